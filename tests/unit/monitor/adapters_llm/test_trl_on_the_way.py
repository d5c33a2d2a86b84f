"""What becomes of a batch between loader and loss: rows drawn, asked and scored, scores remembered, rows trained."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import torch

from firstbreak.monitor.adapters.parts.trl.asked import CHANGED, Asked
from firstbreak.monitor.adapters.parts.trl.on_the_way import OnTheWay
from firstbreak.monitor.adapters.parts.trl.remembered import AGAIN, OFF, Remembered
from firstbreak.monitor.adapters.parts.trl.rows import FOREIGN, TEXT_OFF
from firstbreak.monitor.adapters.parts.trl.trained import ALTERED, OTHERS, Trained
from firstbreak.monitor.core import Monitor

PAD, END = 0, 9
ROWS = [{"prompt": "a", "answer": "1"}, {"prompt": "b", "answer": "2"}]


class Data:
    """As much of a data set as is asked."""

    column_names = ("prompt", "answer")

    def __init__(self, rows: list[dict[str, str]]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def select_columns(self, names: list[str]) -> Data:
        del names
        return self

    def iter(self, batch_size: int) -> Any:
        del batch_size
        return iter([{"prompt": [row["prompt"] for row in self.rows]}])


def trainer(**more: Any) -> Any:
    return SimpleNamespace(train_dataset=Data(ROWS), _prepare_inputs=lambda batch: batch, **more)


def asked(drawn: Any, given: Any, scored: Any = None) -> dict[str, float]:
    subject, monitor = trainer(), Monitor(None)
    rows = Asked(subject, monitor)
    subject._prepare_inputs(ROWS)
    rows.generates(ROWS)
    subject._prepare_inputs(drawn)
    found = rows.generates(given)
    found |= rows.scored(scored or given)
    assert not monitor.faults
    return found


def test_rows_that_reach_generation_as_they_were_drawn():
    assert asked(ROWS, ROWS) == {FOREIGN: 0.0, CHANGED: 0.0}
    assert asked(ROWS, ROWS[::-1]) == {FOREIGN: 0.0, CHANGED: 0.0}, "order is another matter"


def test_rows_changed_before_generation_or_before_the_scorer():
    other = [{**ROWS[0], "prompt": "b"}, ROWS[1]]
    assert asked(ROWS, other) == {FOREIGN: 0.0, CHANGED: 0.5}
    assert asked(ROWS, ROWS, [{**ROWS[0], "answer": "2"}, ROWS[1]]) == {FOREIGN: 0.0, CHANGED: 0.5}
    assert asked(ROWS, [{**row, "prompt": ">"} for row in ROWS]) == {FOREIGN: 1.0, CHANGED: 1.0}


def test_a_column_that_is_added_changes_no_row():
    assert asked(ROWS, ROWS, [{**row, "seen": 3} for row in ROWS])[CHANGED] == 0.0


def test_prompts_made_on_the_way_from_the_first_batch_on_are_not_foreign():
    rows = Asked(trainer(), Monitor(None))
    assert rows.generates([{"prompt": "x"}]) == {}
    assert rows.generates(ROWS) == {}


def test_rows_of_images_and_environments_are_left_alone():
    assert CHANGED not in Asked(trainer(), Monitor(None)).generates(ROWS), "nobody drew any"
    subject = trainer(environments=[object()])
    rows = Asked(subject, Monitor(None))
    subject._prepare_inputs(ROWS)
    assert CHANGED not in rows.generates(ROWS)
    assert rows.scored(ROWS) == {}
    pictured = [{"prompt": "a", "image": object()}]
    assert asked(pictured, [{"prompt": "a", "image": object()}])[CHANGED] == 0.0


def remembered(memory: Remembered, scores: list[list[float]], rows: Any = ROWS) -> dict[str, float]:
    memory.begin()
    memory.scored(rows, [row["prompt"] for row in rows], [[3, END], torch.tensor([4, END])])
    return memory.end(torch.tensor(scores))


def test_a_response_that_comes_again_keeps_its_score():
    memory = Remembered()
    assert remembered(memory, [[1.0], [math.nan]]) == {AGAIN: 0.0}
    assert remembered(memory, [[1.0], [math.nan]]) == {AGAIN: 2.0, OFF: 0.0}
    assert remembered(memory, [[1.0], [0.25]]) == {AGAIN: 2.0, OFF: 0.5}
    assert remembered(memory, [[0.5], [math.nan]]) == {AGAIN: 2.0, OFF: 1.0}
    assert remembered(memory, [[0.5], [math.nan]]) == {AGAIN: 2.0, OFF: 0.0}, "the newest score is the measure"


def test_the_same_response_to_another_row_is_another_pair():
    memory = Remembered()
    remembered(memory, [[1.0], [0.0]])
    assert remembered(memory, [[0.0], [1.0]], [{**row, "answer": "7"} for row in ROWS]) == {AGAIN: 0.0}


def test_one_pair_scored_twice_in_a_batch():
    memory = Remembered()
    memory.begin()
    memory.scored([ROWS[0]] * 3, ["a"] * 3, [[3], [3], [3]])
    assert memory.end(torch.tensor([[1.0], [1.0], [0.0]])) == {AGAIN: 1.0, OFF: 1.0}


def test_nothing_is_said_without_scores_of_each_response():
    memory = Remembered()
    memory.scored(ROWS, ["a", "b"], [[3], [4]])
    assert memory.end(torch.zeros(3, 1)) == {}
    assert memory.end(None) == {}


def batch(answers: list[list[int]], a: list[float]) -> dict[str, Any]:
    return {
        "prompt_ids": torch.tensor([[PAD, 20 + place] for place in range(len(answers))]),
        "completion_ids": torch.tensor(answers),
        "advantages": torch.tensor(a),
    }


def test_rows_of_the_loss_are_those_drawn_last_with_their_advantages():
    rows, drawn = Trained(), batch([[3, END], [4, END]], [1.0, -1.0])
    assert rows.row() == {}
    rows.generated(drawn, PAD)
    rows.trained({name: value[1:] for name, value in drawn.items()}, PAD)
    rows.trained({name: value[:1] for name, value in drawn.items()}, PAD)
    assert rows.row() == {OTHERS: 0.0, ALTERED: 0.0}
    rows.trained({**drawn, "advantages": -drawn["advantages"]}, PAD)
    assert rows.row() == {OTHERS: 0.0, ALTERED: 1.0}
    rows.trained({**drawn, "completion_ids": torch.tensor([[3, END], [5, END]])}, PAD)
    assert rows.row() == {OTHERS: 0.5, ALTERED: 0.0}
    rows.trained({**drawn, "completion_ids": torch.tensor([[5, END], [6, END]])}, PAD)
    assert rows.row() == {OTHERS: 1.0}


def test_advantages_of_each_token_are_left_alone():
    rows = Trained()
    rows.generated({**batch([[3]], [1.0]), "advantages": torch.ones(1, 1)}, PAD)
    rows.trained(batch([[3]], [1.0]), PAD)
    assert rows.row() == {}


def test_only_the_first_scoring_of_a_batch_counts_and_only_by_functions_with_a_weight():
    subject = trainer(
        _calculate_rewards=lambda *_: None,
        _logs={"rewards": {"one": [1.0, 0.0], "two": [0.0, 0.0]}},
        reward_func_names=["one", "two"],
        reward_weights=torch.tensor([1.0, 0.0]),
        accelerator=SimpleNamespace(process_index=0),
        model=SimpleNamespace(training=True),
        processing_class=SimpleNamespace(decode=lambda ids, **_: "".join(str(i) for i in ids)),
    )
    monitor = Monitor(None)
    way, found = OnTheWay(subject, monitor), batch([[3], [4]], [1.0, -1.0])
    for second in (0.0, 5.0):
        subject._logs["rewards"]["two"][0] = second
        subject._prepare_inputs(ROWS)
        way.begin(ROWS)
        subject._calculate_rewards(ROWS, ["a", "b"], ["3", "4"], [[3], [4]])
        subject._calculate_rewards(ROWS[::-1], ["b", "a"], ["x", "x"], [[8], [8]])
        way.end(found, PAD)
        way.trained(found, PAD)
        row = way.row()
    assert not monitor.faults
    assert row[AGAIN] == 2.0
    assert row[OFF] == 0.0
    assert row[CHANGED] == row[TEXT_OFF] == row[OTHERS] == row[ALTERED] == 0.0
    assert way.row() == {}
