"""Calling conventions of trainers, and what their return values are worth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from firstbreak.audit.verifier.calling import caller, scored, style_of
from firstbreak.audit.verifier.rows import Question

ROWS = [Question("What is 1 + 1?", "2", "number", columns={"level": 3}), Question("What is 2 + 2?", "4", "number")]
SAID = ["2", "5"]


def plain(prompt: str, response: str, answer: str) -> float:
    return float(response == answer and prompt.startswith("What"))


def turned(answer: str, completion: str) -> float:
    return float(completion == answer)


def short(a: str, b: str) -> float:
    return float(a == b)


def trl(completions: list[str], ground_truth: list[str], **kwargs: Any) -> list[float]:
    assert kwargs["prompts"] == [q.prompt for q in ROWS]
    assert kwargs["level"] == [3, None]
    return [float(c == g) for c, g in zip(completions, ground_truth, strict=True)]


def trl_closed(prompts: list[str], completions: list[str], solution: list[str]) -> Any:
    return np.array([c == s for c, s in zip(completions, solution, strict=True)], np.float32)


def chat(prompts: Any, completions: Any, answer: list[str], **kwargs: Any) -> list[float]:
    return [float(c[0]["content"] == a) for c, a in zip(completions, answer, strict=True)]


def verl(data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None) -> dict[str, float]:
    return {"score": float(solution_str == ground_truth and data_source == "firstbreak")}


def areal(prompt: str, completions: str, prompt_ids: Any, completion_ids: Any, answer: str, **kwargs: Any) -> float:
    return float(completions == answer)


def openrlhf(queries: list[str], prompts: list[str], labels: list[str]) -> dict[str, Any]:
    ends = [q.removeprefix(p) == a for q, p, a in zip(queries, prompts, labels, strict=True)]
    return {"rewards": np.array(ends, float), "scores": None}


async def later(prompt: str, response: str, answer: str) -> float:
    return float(response == answer)


class Callable:
    def __call__(self, question: str, output: str, target: str) -> bool:
        return output == target


@pytest.mark.parametrize(
    ("function", "style"),
    [
        (plain, "plain"), (turned, "plain"), (short, "plain"), (trl, "trl"), (trl_closed, "trl"), (verl, "verl"),
        (areal, "areal"), (openrlhf, "openrlhf"), (later, "plain"), (Callable(), "plain"),
    ],
)  # fmt: skip
def test_each_convention_is_told_and_served(function: Any, style: str) -> None:
    assert style_of(function) == style
    scores = caller(function, style)(ROWS, SAID)
    assert [(s.value, s.how) for s in scores] == [(1.0, "ok"), (0.0, "ok")]


def test_conversations() -> None:
    assert [s.value for s in caller(chat, "trl-chat")(ROWS, SAID)] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("value", "how"),
    [
        (1, "ok"), (True, "ok"), (np.float32(0.5), "ok"), (np.array([0.5]), "ok"), ({"score": 1.0, "x": 2}, "ok"),
        ((1.0, "why"), "ok"), (None, "none"), (math.nan, "nan"), (math.inf, "nan"), ("1.0", "text"),
        ({"x": 1}, "other"),
        (object(), "other"), ({"score": None}, "none"),
    ],
)  # fmt: skip
def test_what_a_value_is_worth(value: Any, how: str) -> None:
    assert scored(value, "plain").how == how


@pytest.mark.parametrize("value", [[1.0], 3.0, {"x": 1}, [1.0, 2.0, 3.0], None])
def test_a_wrong_number_of_scores(value: Any) -> None:
    found = caller(lambda prompts, completions: value, "trl")(ROWS, SAID)
    assert [s.how for s in found] == ["count", "count"]
    assert all(math.isnan(s.value) for s in found)
