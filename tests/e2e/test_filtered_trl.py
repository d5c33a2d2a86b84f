"""Groups filtered, and samples written, inside TRL's own GRPO trainer on a tiny model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from firstbreak.audit.reading.api import read_samples
from firstbreak.monitor.groups import GroupFilter
from firstbreak.monitor.groups.trl import filtered
from firstbreak.monitor.settling import RawSamples, zero_learning_rate

pytestmark = pytest.mark.full


def trainer(folder: Path, keep: GroupFilter | None = None, rounds: int = 0, steps: int = 6) -> Any:
    import trl

    from examples.tiny_language_model import grpo

    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        if keep is not None:
            patch.setattr(trl, "GRPOTrainer", filtered(trl.GRPOTrainer, keep, rounds=rounds))
        return grpo(folder, steps=steps)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
def test_groups_are_filtered_and_replaced_in_a_real_run(tmp_path: Path) -> None:
    keep = GroupFilter()
    made = trainer(tmp_path, keep, rounds=3)
    samples = RawSamples(tmp_path / "raw.jsonl")
    made.reward_funcs[0] = samples.around(made.reward_funcs[0], eos_token_id=2)
    trained: list[Any] = []
    compute = made._compute_loss

    def heard(model: Any, inputs: Any) -> Any:
        trained.append(inputs)
        return compute(model, inputs)

    made._compute_loss = heard
    made.train()
    report = keep.report()
    assert report.seen > 6
    assert report.rejected
    assert report.unread == 0
    assert report.prompts == 8
    assert report.gaps[0].kept > 0
    assert all(bool(inputs["completion_mask"].any(dim=1).all()) for inputs in trained)
    assert all(bool((inputs["advantages"] != 0).any()) for inputs in trained)
    found = list(read_samples(samples.path))
    assert samples.faults == []
    assert len(found) >= 6 * 20
    assert {s.stop_reason for s in found} <= {"stop", "length"}
    assert all(s.prompt for s in found)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
def test_a_filter_that_keeps_everything_changes_nothing(tmp_path: Path) -> None:
    class Everything(GroupFilter):
        def should_accept(self, group: Any, *, prompt: Any = "") -> bool:
            super().should_accept(group, prompt=prompt)
            return True

    models: list[Any] = []
    for folder, keep in (("a", None), ("b", Everything())):
        made = trainer(tmp_path / folder, keep, rounds=2)  # seeds the generator that train() draws from
        made.train()
        models.append(made.model)
    pairs = zip(models[0].parameters(), models[1].parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
def test_at_learning_rate_zero_a_real_run_stands_still(tmp_path: Path) -> None:
    made = trainer(tmp_path, steps=3)
    made.create_optimizer()
    with zero_learning_rate(made.optimizer, weights=made.model) as zero:
        made.train()
        for row in made.state.log_history:
            zero.log({"policy/kl_old": row["kl"]} if "kl" in row else {})
    assert zero.result().steps == 3
    assert zero.result().moved == ()
