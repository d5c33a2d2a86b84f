"""What an evaluation asks, beside what is trained on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from firstbreak.monitor.adapters.parts.trl.drawing import Drawing
from firstbreak.monitor.adapters.parts.trl.evaluation import TRAINED_ON, Evaluations
from firstbreak.monitor.core import Monitor


def dataset(given: list[dict[str, Any]]) -> Any:
    from datasets import Dataset  # of the full set of libraries

    return cast(Any, Dataset).from_list(given)


def looks(train: Any) -> Evaluations:
    trainer = SimpleNamespace(train_dataset=train, model=torch.nn.Linear(1, 1))
    monitor = Monitor(framework="trl", algorithm="GRPO")
    return Evaluations(trainer, monitor, None, Drawing(trainer, monitor))


def rows(*prompts: str) -> list[dict[str, Any]]:
    return [{"prompt": prompt} for prompt in prompts for _ in range(2)]


@pytest.mark.full
def test_prompts_that_are_trained_on_are_counted_once_over_all_batches_of_an_evaluation():
    found = looks(dataset(rows("a", "b", "c")))
    found.note(rows("a", "x"), {}, None, None)
    found.note(rows("y", "z"), {}, None, None)
    assert found.row() == {TRAINED_ON: 0.25}
    found.note(rows("x"), {}, None, None)
    assert found.row() == {TRAINED_ON: 0.0}
    assert found.row() == {}


@pytest.mark.full
def test_messages_are_compared_as_wholes():
    one = [{"role": "user", "content": "a"}]
    found = looks(dataset([{"prompt": one}]))
    found.note([{"prompt": one}], {}, None, None)
    assert found.row() == {TRAINED_ON: 1.0}


def test_a_stream_of_prompts_is_not_compared():
    found = looks(iter(rows("a")))
    found.note(rows("a"), {}, None, None)
    assert found.row() == {}
