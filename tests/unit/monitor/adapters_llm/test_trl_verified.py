"""Right answers that are not paid, and half ones that are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from transformers import GenerationConfig

from firstbreak.monitor.adapters.parts.trl.sampling import truncation
from firstbreak.monitor.adapters.parts.trl.verified import cut, cut_paid, unpaid
from tests.unit.monitor.adapters_llm.test_trl_references import Score, exact, look, references

WORDS = ["abcd", "bcde", "cdef", "defg", "efgh", "fghi"]
UNPAID, CUT = "reward/reference_unpaid_frac", "reward/cut_reference_paid_frac"


def strict(text: str, answer: str) -> float:
    """Reads only answers that begin with one of two letters."""
    return float(text == answer and answer[0] in "ab")


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (exact, 0.0),
        (lambda text, answer: 10 * exact(text, answer) - 1, 0.0),
        (strict, 4 / 6),
        (lambda text, answer: 0.0, None),
        (lambda text, answer: float(len(text)), None),
        (lambda text, answer: float(ord(text[0]) % 3), None),
        (lambda text, answer: sum(a == b for a, b in zip(text, answer, strict=False)) / 4, 0.0),
    ],
    ids=["exact", "another scale", "strict", "pays nothing", "pays length", "pays what it likes", "pays in part"],
)
def test_a_reference_that_is_not_paid_shows_in_verifiers_only(score: Score, expected: float | None):
    assert look(references(score), WORDS).get(UNPAID) == pytest.approx(expected)


def test_of_several_functions_the_one_that_leaves_most_unpaid_counts():
    own = np.array([[1.0, 1.0, 0.1], [1.0, 0.0, 0.1], [1.0, 1.0, 0.1]])
    other = np.array([[0.0, 0.0, 0.1]] * 3)
    assert unpaid(own, other) == pytest.approx(1 / 3)
    assert unpaid(own[:2], other[:2]) is None


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (exact, 0.0),
        (lambda text, answer: float(text[:1] == answer[:1]), 1.0),
        (lambda text, answer: float(text in answer) + 0.1, 1.0),
        (lambda text, answer: len(text) / 4 * exact(text, answer[: len(text)]), 0.0),
    ],
    ids=["exact", "reads the first letter", "asks whether the answer holds it", "pays in part"],
)
def test_half_of_an_answer_is_paid_by_a_lenient_scorer(score: Score, expected: float):
    assert look(references(score), WORDS)[CUT] == pytest.approx(expected)


def test_answers_whose_half_may_be_right_are_not_cut():
    assert cut(["7", "1.0", "(B) two", "two words", "", "012", "-5"]) == [None, None, None, None, None, "0", None]
    assert CUT not in look(references(exact), ["1.0", "2.0", "3.0", "4.0"])
    assert cut_paid(np.ones(2), np.zeros(2), np.ones(2), 0.9) == {}


def settings(**values: Any) -> Any:
    return SimpleNamespace(generation_config=GenerationConfig(**values))


@pytest.mark.parametrize(
    ("trainer", "expected"),
    [
        (settings(do_sample=True, top_p=0.3), {"sample/top_p": 0.3}),
        (settings(do_sample=True, top_p=1.0, min_p=0.1), {"sample/top_p": 1.0, "sample/min_p": 0.1}),
        (settings(do_sample=False), {}),
        (SimpleNamespace(), {}),
        (SimpleNamespace(use_vllm=True, vllm_generation=SimpleNamespace(top_p=0.9)), {"sample/top_p": 0.9}),
        (
            SimpleNamespace(
                use_vllm=True, vllm_generation=SimpleNamespace(top_p=0.9, generation_kwargs={"top_p": 0.5})
            ),
            {"sample/top_p": 0.5},
        ),
        (SimpleNamespace(use_vllm=True, vllm_importance_sampling_correction=True), {}),
    ],
)
def test_the_mass_that_is_drawn_from_is_the_one_in_force(trainer: Any, expected: dict[str, float]):
    assert truncation(trainer) == expected
