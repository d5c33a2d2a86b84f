"""Asking reward functions again: the statistic by hand, and a trainer that keeps what TRL's keeps."""

from __future__ import annotations

import math
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.monitor.adapters.parts.trl.references import FULL, hedges
from firstbreak.monitor.adapters.parts.trl.rewards import RewardTap, repeated, reversed_groups
from firstbreak.monitor.core import Monitor

SCORE = st.sampled_from([0.0, 0.25, 1.0, -1.0, float("nan")])


@given(st.lists(st.tuples(SCORE, SCORE), max_size=12))
def test_noise_is_the_variance_within_over_the_variance_of_all(pairs: list[tuple[float, float]]):
    found = repeated(np.array([a for a, _ in pairs]), np.array([b for _, b in pairs]))
    known = [(a, b) for a, b in pairs if not (math.isnan(a) or math.isnan(b))]
    if not known:
        assert found == {}
        return
    every = [value for pair in known for value in pair]
    mean = sum(every) / len(every)
    whole = sum((value - mean) ** 2 for value in every) / len(every)
    within = sum((a - (a + b) / 2) ** 2 + (b - (a + b) / 2) ** 2 for a, b in known) / len(known)
    assert found["reward/golden_mean"] == pytest.approx(mean)
    assert found["reward/golden_noise_frac"] == pytest.approx(min(1.0, within / whole) if whole else 0.0)


class Trainer:
    """What TRL's trainer has that scoring needs; `score` is the reward function."""

    def __init__(self, score: Any, processes: int = 1) -> None:
        self.accelerator = SimpleNamespace(num_processes=processes)
        self.model = SimpleNamespace(training=True)
        self.reward_weights = torch.tensor([1.0])
        self.processing_class = Tokenizer()
        self._pending_metrics: dict[str, list[float]] = {}
        self.score = score

    def _calculate_rewards(self, inputs: Any, prompts: Any, completions: Any, ids: Any) -> torch.Tensor:
        self._pending_metrics.setdefault("seen", []).append(random.random())
        pairs = zip(completions, inputs, strict=True)
        return torch.tensor([[self.score(text, row["answer"])] for text, row in pairs])


class Tokenizer:
    eos_token_id = 0

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        return {"input_ids": [ord(c) for c in text]}


def batch(trainer: Any, *texts: str) -> Any:
    rows = [{"prompt": f"{i}?", "answer": f"{i}"} for i in range(len(texts))]
    return trainer._calculate_rewards(rows, [row["prompt"] for row in rows], list(texts), [[1]] * len(texts))


def test_the_first_batch_is_scored_again_at_every_second_one_and_leaves_no_trace():
    trainer = Trainer(lambda text, answer: float(text == answer))
    tap = RewardTap(trainer, Monitor(algorithm="GRPO"), every=2)
    random.seed(5)
    assert batch(trainer, "0", "x", "2")[:, 0].tolist() == [1, 0, 1]
    first = tap.row()
    assert first["reward/golden_mean"] == pytest.approx(2 / 3)
    assert (first["reward/golden_noise_frac"], first["reward/reference_margin"]) == (0, 1)
    batch(trainer, "x", "x", "x")
    assert tap.row() == {}
    trainer.score = lambda text, answer: float(text != answer)
    batch(trainer, "0", "1", "2")
    later = tap.row()
    assert later["reward/golden_mean"] == pytest.approx(1 / 3)
    assert (later["reward/reference_margin"], later["reward/golden_set"]) == (-1, first["reward/golden_set"])
    random.seed(5)
    assert trainer._pending_metrics == {"seen": [random.random() for _ in range(3)]}


def test_a_scorer_that_raises_when_asked_again_does_not_end_training():
    calls: list[str] = []

    def once(text: str, answer: str) -> float:
        calls.append(text)
        if len(calls) > 2:
            raise ValueError("no more")
        return 1.0

    monitor = Monitor(algorithm="GRPO")
    trainer = Trainer(once)
    tap = RewardTap(trainer, monitor, every=1)
    assert batch(trainer, "a", "b")[:, 0].tolist() == [1, 1]
    assert tap.row() == {}
    assert any("score the fixed set again" in str(fault) for fault in monitor.faults)


@pytest.mark.parametrize("change", [{"environments": [1]}, {"accelerator": SimpleNamespace(num_processes=2)}])
def test_where_it_cannot_ask_again_it_says_so(change: dict[str, Any]):
    trainer, monitor = Trainer(lambda text, answer: 1.0), Monitor(algorithm="GRPO")
    for name, value in change.items():
        setattr(trainer, name, value)
    tap = RewardTap(trainer, monitor, every=1)
    batch(trainer, "a", "b")
    assert tap.row() == {}
    assert any("not asked again" in str(fault) for fault in monitor.faults)


PAY = st.sampled_from([0.0, 0.5, 1.0, float("nan")])


@given(st.lists(st.tuples(PAY, PAY, st.lists(PAY, min_size=4, max_size=4), st.booleans()), max_size=8))
def test_hedges_are_counted_one_prompt_at_a_time(rows: list[tuple[float, float, list[float], bool]]):
    own, other = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    both = np.array(
        [[[r[2][0] for r in rows], [r[2][1] for r in rows]], [[r[2][2] for r in rows], [r[2][3] for r in rows]]]
    )
    found = hedges(own, other, both, np.array([r[3] for r in rows], bool))
    asked = paid = 0
    for right, wrong, (a, b, c, d), differs in rows:
        if not differs or any(math.isnan(x) for x in (right, wrong, a, b, c, d)) or right <= wrong:
            continue
        asked += 1
        enough = wrong + FULL * (right - wrong)
        paid += (a >= enough and b >= enough) or (c >= enough and d >= enough)
    assert found == ({"reward/hedged_paid_frac": paid / asked} if asked else {})


@pytest.mark.parametrize(
    ("score", "frac"),
    [
        (lambda text, answer: float(answer in text), 1.0),
        (lambda text, answer: 2.0 * (answer in text.split()) + 0.1 * len(text), 1.0),
        (lambda text, answer: float(text == answer), 0.0),
        (lambda text, answer: float(text.split()[-1] == answer), 0.0),
        (lambda text, answer: float(text.startswith(answer)), 0.0),
        (lambda text, answer: float(answer in text.split()) / max(1, len(text.split())), 0.0),
    ],
    ids=["anywhere", "anywhere-and-long", "exact", "last", "first", "precision"],
)
def test_a_verifier_that_looks_anywhere_pays_hedges(score: Any, frac: float):
    tap = RewardTap(trainer := Trainer(score), Monitor(algorithm="GRPO"), every=1)
    batch(trainer, "0", "1", "2")
    assert tap.row()["reward/hedged_paid_frac"] == frac


def test_no_reference_that_is_paid_says_nothing_of_hedges():
    tap = RewardTap(trainer := Trainer(lambda text, answer: 1.0), Monitor(algorithm="GRPO"), every=1)
    batch(trainer, "0", "1", "2")
    assert "reward/hedged_paid_frac" not in tap.row()


class ByPlace(Trainer):
    """Pays each response what another place in the batch deserves, or one place more."""

    num_generations = 2

    def __init__(self, place: Any) -> None:
        super().__init__(lambda text, answer: float(text == answer))
        self.place = place

    def _calculate_rewards(self, *samples: Any) -> torch.Tensor:
        return self.place(super()._calculate_rewards(*samples))


@pytest.mark.parametrize(
    "place",
    [
        lambda scores: scores.roll(1, 0),
        lambda scores: scores + (torch.arange(len(scores)) % 2 == 0)[:, None],
    ],
    ids=["the score of the row before", "the first of a group is favoured"],
)
def test_scores_that_follow_the_place_in_the_batch_are_not_repeatable(place: Any):
    tap = RewardTap(trainer := ByPlace(place), Monitor(algorithm="GRPO"), every=1)
    batch(trainer, "0", "x", "2", "x", "x", "5")
    found = tap.row()
    assert found["reward/golden_noise_frac"] > 0.2
    assert "reward/reference_misplaced_frac" not in found


@pytest.mark.parametrize(
    "place",
    [
        lambda scores: scores,
        lambda scores: (scores - scores.mean()) / (scores.std() + 1e-6),
        lambda scores: (scores.reshape(-1, 2) - scores.reshape(-1, 2).mean(1, keepdim=True)).reshape(-1, 1),
    ],
    ids=["exact", "relative to the batch", "relative to the group"],
)
def test_scores_that_follow_the_responses_are_repeatable_in_any_order(place: Any):
    tap = RewardTap(trainer := ByPlace(place), Monitor(algorithm="GRPO"), every=1)
    batch(trainer, "0", "x", "2", "x", "x", "5")
    assert tap.row()["reward/golden_noise_frac"] == pytest.approx(0.0, abs=1e-9)


@given(st.integers(0, 30), st.integers(1, 9))
def test_each_group_is_turned_round_and_stays_where_it_is(rows: int, size: int):
    order = reversed_groups(rows, size)
    assert sorted(order) == list(range(rows))
    assert all(place // size == i // size for i, place in enumerate(order))
    assert reversed_groups(rows, size)[:size] == list(range(min(size, rows)))[::-1]


def test_an_evaluation_that_scores_otherwise_is_told_once_an_evaluation():
    strict = [True]

    def score(text: str, answer: str) -> float:
        return float(text == answer) if strict[0] else float(bool(text))

    trainer = Trainer(score)
    tap = RewardTap(trainer, Monitor(algorithm="GRPO"), every=1)
    batch(trainer, "0", "x", "y", "")
    tap.row()
    trainer.model.training = False
    batch(trainer, "0", "1")
    assert tap.evaluated() == {"eval/scored_otherwise_frac": 0.0}
    strict[0] = False
    for _ in range(2):
        batch(trainer, "0", "1")
    assert tap.evaluated() == {"eval/scored_otherwise_frac": 0.5}
    assert tap.evaluated() == {}
