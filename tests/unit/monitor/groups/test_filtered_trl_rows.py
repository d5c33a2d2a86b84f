"""How rejected groups are replaced in TRL's batches, on a stand-in with the methods that are leant on.

The real trainer is filtered in tests/e2e/test_filtered_trl.py.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from firstbreak.errors import InputError
from firstbreak.monitor.groups import GroupFilter
from firstbreak.monitor.groups.trl import filtered

torch.set_num_threads(1)

PAD = 99


class Trainer:
    """Generates what a script says: one list of group rewards a round; token ids tell round and row."""

    def __init__(self, script: list[list[list[float]]], processes: int = 1, index: int = 0, **state: Any) -> None:
        self.script, self.round = script, 0
        self.asked: list[list[Any]] = []
        self.num_generations = 2
        self.reward_weights = torch.ones(1)
        self.model = SimpleNamespace(training=state.get("training", True))
        self.args, self.state = SimpleNamespace(seed=0), SimpleNamespace(global_step=3)
        self.train_dataset: Any = [{"prompt": f"p{i}"} for i in range(50)]
        self._tokenizer = SimpleNamespace(pad_token_id=PAD)
        self.accelerator = SimpleNamespace(
            num_processes=processes,
            process_index=index,
            gather=lambda x: x.reshape(1) if x.dim() == 0 else x.repeat(processes, 1),
        )

    def _calculate_rewards(self, rewards: torch.Tensor) -> torch.Tensor:
        return rewards

    def _generate_and_score_completions(self, inputs: list[Any]) -> dict[str, Any]:
        self.asked.append(inputs)
        rewards = torch.tensor(self.script[self.round]).reshape(-1, 1)
        self._calculate_rewards(rewards)
        rows, width = len(inputs), 2 + self.round  # later rounds are wider
        start = self.accelerator.process_index * rows
        ids = 10 * self.round + torch.arange(rows).unsqueeze(1).expand(rows, width)
        self.round += 1
        return {
            "prompt_ids": ids.clone(),
            "prompt_mask": torch.ones(rows, width, dtype=torch.long),
            "completion_ids": ids.clone(),
            "completion_mask": torch.ones(rows, width, dtype=torch.long),
            "advantages": rewards[start : start + rows, 0] + 1.0,
            "old_per_token_logps": -ids.float(),
            "num_items_in_batch": torch.tensor(rows * width),
        }


SILENT, LOUD = [0.0, 0.0], [0.0, 1.0]


def inputs(groups: int) -> list[dict[str, str]]:
    return [{"prompt": f"p{i}"} for i in range(groups) for _ in range(2)]


def generate(trainer: Trainer, rounds: int, groups: int = 3, keep: GroupFilter | None = None) -> dict[str, Any]:
    trainer.__class__ = filtered(Trainer, keep or GroupFilter(), rounds=rounds)
    return trainer._generate_and_score_completions(inputs(groups))


def test_rejected_groups_are_left_out_of_loss_and_token_count() -> None:
    found = generate(Trainer([[LOUD, SILENT, LOUD]]), rounds=0)
    assert found["completion_mask"].sum(dim=1).tolist() == [2, 2, 0, 0, 2, 2]
    assert found["advantages"][2:4].tolist() == [0.0, 0.0]
    assert int(found["num_items_in_batch"]) == 8


def test_rejected_groups_are_replaced_by_kept_ones_of_other_prompts() -> None:
    trainer = Trainer([[LOUD, SILENT, SILENT], [SILENT, LOUD, LOUD]])
    found = generate(trainer, rounds=4)
    assert trainer.round == 2  # no more rounds than needed
    assert found["completion_ids"].tolist() == [
        [0, 0, PAD], [1, 1, PAD], [12, 12, 12], [13, 13, 13], [14, 14, 14], [15, 15, 15],
    ]  # fmt: skip
    assert found["prompt_ids"][0].tolist() == [PAD, 0, 0]
    assert found["prompt_mask"][0].tolist() == [0, 1, 1]
    assert found["completion_mask"][0].tolist() == [1, 1, 0]
    assert found["old_per_token_logps"][2].tolist() == [-12.0] * 3
    assert found["advantages"].tolist() == [1.0, 2.0] * 3
    assert int(found["num_items_in_batch"]) == 4 + 12
    asked = [row["prompt"] for row in trainer.asked[1]]
    assert asked[::2] == asked[1::2]


def test_what_no_round_replaces_is_left_out() -> None:
    found = generate(Trainer([[SILENT, SILENT, LOUD], [SILENT, LOUD, SILENT], [SILENT] * 3]), rounds=2)
    assert (found["completion_mask"].sum(dim=1) > 0).tolist() == [True, True, False, False, True, True]


def test_every_process_reckons_alike_and_changes_its_own_rows() -> None:
    script = [[LOUD, SILENT, SILENT, LOUD], [LOUD, SILENT, SILENT, LOUD]]
    outputs = [generate(Trainer(script, processes=2, index=i), rounds=1, groups=2) for i in range(2)]
    assert [o["completion_ids"][:, 0].tolist() for o in outputs] == [[0, 1, 10, 11], [12, 13, 2, 3]]
    trainers = [Trainer(script, processes=2, index=i) for i in range(2)]
    for trainer in trainers:
        generate(trainer, rounds=1, groups=2)
    assert trainers[0].asked[1] != trainers[1].asked[1]


def test_an_evaluation_is_not_filtered() -> None:
    keep = GroupFilter()
    found = generate(Trainer([[SILENT]], training=False), rounds=3, groups=1, keep=keep)
    assert int(found["completion_mask"].sum()) == 4
    assert keep.report().seen == 0


def test_answers_that_nothing_scored_are_no_score() -> None:
    keep = GroupFilter()
    generate(Trainer([[[float("nan"), float("nan")]]]), rounds=0, groups=1, keep=keep)
    assert keep.report().rejected == {"no score": 1}


def test_the_report_knows_prompts_and_lengths() -> None:
    keep = GroupFilter()
    generate(Trainer([[LOUD, SILENT, LOUD]]), rounds=0, keep=keep)
    report = keep.report()
    assert report.prompts == 3
    assert report.gaps[0].kept == 2.0


def test_what_cannot_be_replaced_is_said() -> None:
    stream = Trainer([[SILENT]])
    stream.train_dataset = iter([])
    with pytest.raises(InputError, match="stream"):
        generate(stream, rounds=1, groups=1)
    with pytest.raises(InputError, match="_calculate_rewards"):
        filtered(SimpleNamespace, GroupFilter())


def test_pictures_are_not_mixed_up() -> None:
    class Pictured(Trainer):
        def _generate_and_score_completions(self, inputs: list[Any]) -> dict[str, Any]:
            found = super()._generate_and_score_completions(inputs)
            return {**found, "pixel_values": torch.zeros(7, 3)}

    trainer = Pictured([[SILENT], [LOUD]])
    trainer.__class__ = filtered(Pictured, GroupFilter(), rounds=1)
    with pytest.raises(InputError, match="pixel_values"):
        trainer._generate_and_score_completions(inputs(1))


def test_groups_are_asked_in_the_order_of_the_batch() -> None:
    heard: list[list[float]] = []

    class Hearing(GroupFilter):
        def should_accept(self, group: Any, *, prompt: Any = "") -> bool:
            heard.append(np.asarray(group["rewards"]).tolist())
            return super().should_accept(group, prompt=prompt)

    generate(Trainer([[LOUD, SILENT, LOUD]]), rounds=0, keep=Hearing())
    assert heard == [LOUD, SILENT, LOUD]
