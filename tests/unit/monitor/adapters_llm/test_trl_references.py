"""What is paid for reference answers: the statistics by hand, and scorers whose keys are shifted."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.monitor.adapters.parts.trl.references import KEPT, References, misplaced, tell_right

PAY = st.sampled_from([0.0, 0.0, 0.0, 1.0, float("nan")])
SIZE = 12
Score = Callable[[str, str], float]


class Tokenizer:
    eos_token_id = 0

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        return {"input_ids": [ord(c) for c in text]}


def references(*scores: Score) -> References:
    """A trainer whose reward functions are `scores` of response and answer."""
    trainer = SimpleNamespace(
        processing_class=Tokenizer(),
        reward_weights=torch.ones(len(scores)),
        reward_func_names=[str(place) for place in range(len(scores))],
        _logs={"rewards": {}},
    )

    def score(rows: Any, prompts: Any, completions: Any, ids: Any) -> torch.Tensor:
        pairs = list(zip(completions, rows, strict=True))
        values = [[float(one(text, row["answer"])) for one in scores] for text, row in pairs]
        return torch.tensor(values, device="cpu")

    return References(trainer, score)


def look(found: References, answers: list[str] | None = None) -> dict[str, float]:
    answers = answers or [str(place) for place in range(SIZE)]
    rows = [{"prompt": f"{place}?", "answer": answer} for place, answer in enumerate(answers)]
    found.note(rows)
    return found.look(rows, [row["prompt"] for row in rows])


def exact(text: str, answer: str) -> float:
    return float(text == answer)


def next_one(text: str, answer: str) -> float:
    return float(text == str((int(answer) + 1) % SIZE))


@given(st.lists(st.tuples(st.lists(PAY, min_size=4, max_size=4), st.integers(0, 3)), min_size=1, max_size=6))
def test_misplaced_is_counted_one_prompt_at_a_time(rows: list[tuple[list[float], int]]):
    found = misplaced(np.array([row for row, _ in rows]), np.array([own for _, own in rows]))
    clear = [(row, own) for row, own in rows if sum(pay == 1 for pay in row) == 1 and sum(pay == 0 for pay in row) == 3]
    winners = [row.index(1.0) for row, own in clear if row.index(1.0) != own]
    if not clear or (len(winners) > 1 and len(set(winners)) == 1):
        assert found == {}
    else:
        assert found == {"reward/reference_misplaced_frac": len(winners) / len(clear)}


@pytest.mark.parametrize(
    "score",
    [
        exact,
        lambda text, answer: 2 * exact(text, answer) + 0.5,
        lambda text, answer: exact(text, answer) or next_one(text, answer),
        lambda text, answer: float(len(text)),
        lambda text, answer: float(text == "3"),
        lambda text, answer: 0.0,
        lambda text, answer: -abs(int(text) - int(answer)) if text.isdigit() else -99.0,
    ],
    ids=["exact", "exact and form", "two right answers", "length", "one answer everywhere", "never", "distance"],
)
def test_scorers_that_fit_their_data_are_not_said_to_be_shifted(score: Score):
    found = references(score)
    assert [look(found).get("reward/reference_misplaced_frac") for _ in range(8)].count(None) in {0, 8}
    assert not any(look(found).get("reward/reference_misplaced_frac") for _ in range(8))


def test_keys_of_the_next_row_show():
    found = references(next_one)
    shares = [look(found).get("reward/reference_misplaced_frac") for _ in range(6)]
    assert [share for share in shares if share is not None] == [1.0] * 6


def test_the_key_may_lie_in_an_earlier_batch():
    found = references(lambda text, answer: float(text == answer + "x"))
    known = {"reward/reference_margin": 0.0, "reward/standing_mean": 0.0, "reward/question_paid_frac": 0.0}
    assert look(found) == known
    found.note([{"prompt": "p", "answer": f"{place}x"} for place in range(SIZE)])
    assert any(look(found).get("reward/reference_misplaced_frac") for _ in range(4))


def test_two_answers_in_all_are_too_few_to_seek_among():
    assert "reward/reference_misplaced_frac" not in look(references(exact), ["yes", "no"] * 4)


def test_answers_kept_are_bounded():
    found = references(exact)
    found.note([{"prompt": "p", "answer": str(place)} for place in range(3 * KEPT)])
    assert len(found._known) == KEPT
    assert str(3 * KEPT - 1) in found._known


def test_success_is_what_tells_right_from_wrong_and_not_the_form():
    found = references(exact, lambda text, answer: float("<" in text))
    look(found)
    found.trainer._logs["rewards"] = {"0": [1.0, 0.0, None, 1.0], "1": [0.0, 1.0, 1.0, 1.0]}
    assert found.success() == {"reward/success_rate": 0.5}


@pytest.mark.parametrize("score", [lambda text, answer: float("<" in text), next_one, lambda t, a: float(len(a))])
def test_without_a_function_that_tells_right_from_wrong_nothing_is_known_of_success(score: Score):
    found = references(score)
    look(found)
    found.trainer._logs["rewards"] = {"0": [1.0, 0.0]}
    assert found.success() == {}


def test_a_scorer_that_changes_takes_the_knowledge_with_it():
    right = [True]
    found = references(lambda text, answer: exact(text, answer) if right[0] else 0.0)
    found.trainer._logs["rewards"] = {"0": [1.0, 0.0]}
    look(found)
    assert found.success() == {"reward/success_rate": 0.5}
    right[0] = False
    look(found)
    assert found.success() == {}


@given(st.lists(st.tuples(PAY, PAY), min_size=1, max_size=8))
def test_a_function_tells_right_from_wrong_by_hand(pairs: list[tuple[float, float]]):
    own, other = np.array([[a] for a, _ in pairs]), np.array([[b] for _, b in pairs])
    same = all(a == pairs[0][0] for a, _ in pairs)
    more = sum(a > b for a, b in pairs) / len(pairs)
    assert tell_right(own, other) == ({0: pairs[0][0]} if len(pairs) >= 3 and same and more >= 0.9 else {})
