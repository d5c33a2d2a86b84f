"""How responses are drawn: the temperature in force, and responses that go on after their end."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import GenerationConfig

from firstbreak.monitor.adapters.parts.trl.data import LARGEST, name_of, prompt_set
from firstbreak.monitor.adapters.parts.trl.loss import LossTap
from firstbreak.monitor.adapters.parts.trl.sampling import counted_past_end, past_end, sampling_temperature
from firstbreak.monitor.core import Monitor

PAD, END = 0, 9


@pytest.mark.parametrize("pad", [PAD, END])
@given(rows=st.lists(st.lists(st.sampled_from([1, 2, END]), max_size=6), min_size=1, max_size=5))
def test_a_response_goes_on_when_anything_but_padding_follows_its_end(rows: list[list[int]], pad: int):
    width = max(len(row) for row in rows) + 1
    ids = torch.tensor([row + [pad] * (width - len(row)) for row in rows])
    goes_on = 0
    for row in rows:
        size = len(row)
        while size and row[size - 1] == pad:
            size -= 1
        goes_on += END in row[: max(0, size - 1)]
    assert float(past_end(ids, pad, END)) == pytest.approx(goes_on / len(rows))


def drawn(temperature: Any, sample: bool = True, scored: float = 1.0, **more: Any) -> dict[str, float]:
    settings = GenerationConfig(do_sample=sample, temperature=temperature)
    return sampling_temperature(SimpleNamespace(generation_config=settings, temperature=scored, **more))


def test_the_temperature_of_generation_is_beside_the_one_of_the_loss():
    assert drawn(0.6) == {"sample/temperature": 0.6, "sample/temperature_scored": 1.0}
    assert drawn(None) == {"sample/temperature": 1.0, "sample/temperature_scored": 1.0}
    assert drawn(None, sample=False) == {"sample/temperature": 0.0, "sample/temperature_scored": 1.0}
    assert sampling_temperature(SimpleNamespace(temperature=1.0)) == {}


@pytest.mark.parametrize(("over", "expected"), [({}, 0.8), (None, 0.8), ({"temperature": 0.2}, 0.2)])
def test_vllm_is_asked_for_its_own_settings(over: dict[str, float] | None, expected: float):
    engine = SimpleNamespace(temperature=0.8, generation_kwargs=over)
    trainer = SimpleNamespace(use_vllm=True, vllm_generation=engine, temperature=0.8)
    assert sampling_temperature(trainer) == {"sample/temperature": expected, "sample/temperature_scored": 0.8}
    trainer.vllm_importance_sampling_correction = True
    assert sampling_temperature(trainer) == {"sample/temperature": expected}
    assert sampling_temperature(SimpleNamespace(use_vllm=True, temperature=1.0)) == {}


@pytest.mark.parametrize(
    ("more", "columns", "expected"),
    [
        ({}, {}, {"sample/temperature": 0.5, "sample/temperature_scored": 1.0, "seq/past_end_frac": 0.5}),
        ({}, {"tool_mask": torch.ones(2, 3)}, {"sample/temperature": 0.5, "sample/temperature_scored": 1.0}),
        ({"rollout_func": print}, {}, {}),
    ],
    ids=["plain", "tools", "rollouts of the user's own"],
)
def test_what_a_row_holds_of_sampling(more: dict[str, Any], columns: dict[str, Any], expected: dict[str, float]):
    settings = GenerationConfig(do_sample=True, temperature=0.5)
    tokenizer = SimpleNamespace(eos_token_id=END, pad_token_id=PAD)
    trainer = SimpleNamespace(generation_config=settings, temperature=1.0, processing_class=tokenizer, **more)
    tap = LossTap(trainer, Monitor(algorithm="GRPO"))
    tap._note_sampling({"completion_ids": torch.tensor([[1, END, 2], [1, 2, END]]), **columns})
    assert tap.row() == pytest.approx(expected)
    assert tap.row() == {}


def dataset(rows: list[dict[str, Any]]) -> Any:
    from datasets import Dataset

    return Dataset.from_list(rows)


@pytest.mark.full  # needs the library `datasets`, which comes with TRL
def test_a_set_of_prompts_has_one_name_in_any_order_with_repeats_and_other_answers():
    rows = [{"prompt": f"p{place}", "answer": str(place)} for place in range(5)]
    name = prompt_set(dataset(rows))
    assert name is not None
    assert len(name) == 12
    assert prompt_set(dataset([{**row, "answer": "?"} for row in [*rows[::-1], rows[0]]])) == name
    assert prompt_set(dataset(rows[1:])) != name


@pytest.mark.full  # needs the library `datasets`, which comes with TRL
def test_messages_have_a_name_and_streams_have_none():
    talk = [{"prompt": [{"role": "user", "content": text}]} for text in ("a", "b")]
    assert prompt_set(dataset(talk)) == name_of([row["prompt"] for row in talk])
    assert prompt_set(dataset([{"question": "a"}])) is None
    assert prompt_set(iter([])) is None
    assert prompt_set(None) is None


def test_a_large_set_is_not_read():
    class Large:
        column_names = ("prompt",)

        def __len__(self) -> int:
            return LARGEST + 1

    assert prompt_set(Large()) is None


@pytest.mark.parametrize(
    ("mask", "counted"),
    [([[1, 1, 0], [1, 1, 1]], 0.0), ([[1, 1, 1], [1, 1, 1]], 0.5), ([[0, 0, 0], [1, 1, 1]], 0.0)],
    ids=["up to the end", "padding counts", "left out as a whole"],
)
def test_nothing_counts_after_the_end_at_which_the_sampler_stops(mask: list[list[int]], counted: float):
    ids = torch.tensor([[1, END, PAD], [1, 2, 3]])
    trainer = SimpleNamespace(generation_config=GenerationConfig(eos_token_id=[END, 8]))
    assert float(counted_past_end(ids, torch.tensor(mask), trainer)["seq/counted_past_end_frac"]) == counted
    assert counted_past_end(ids, torch.tensor(mask), SimpleNamespace(generation_config=None)) == {}
