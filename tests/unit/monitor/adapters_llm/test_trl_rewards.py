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

from firstbreak.monitor.adapters.trl_rewards import RewardTap, repeated
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
