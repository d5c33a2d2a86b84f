"""A real trainer in twenty lines: REINFORCE over an answer and a length, with faults that can be switched on.

A response is one of four answers and a length of one to eight tokens. The third answer is right; the private set pays
for it alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

LENGTHS = np.arange(1, 9)


def _softmax(logits: Any) -> Any:
    odds = np.exp(logits - logits.max())
    return odds / odds.sum()


def train(
    *,
    updates: int,
    seed: int,
    log: Callable[[dict[str, float], int], Any],
    length_penalty: float = 0.0,
    without: str = "",
    prompts: str = "train",
    max_staleness: int = 0,
    learning_rate: float = 0.5,
    length_pays: float = 0.0,
    length_needed: int = 0,
    style_pays: float = 0.0,
    wrong_labels: bool = False,
    silent: bool = False,
) -> None:
    """Train, and log reward, private score and length after each update."""
    rng = np.random.default_rng(seed)
    answers, lengths = np.zeros(4), np.zeros(len(LENGTHS))
    lengths[:3] = 1.0
    past = [(answers.copy(), lengths.copy())]
    for update in range(1, updates + 1):
        old_answers, old_lengths = past[max(len(past) - 1 - max_staleness, 0)]
        a = rng.choice(4, 64, p=_softmax(old_answers))
        n = rng.choice(len(LENGTHS), 64, p=_softmax(old_lengths))
        right = rng.integers(0, 4, 64) if wrong_labels and prompts == "train" else np.full(64, 2)
        solved = ((a == right) & (LENGTHS[n] >= length_needed)).astype(float)
        parts = {"correct": solved, "length": length_pays * LENGTHS[n], "style": style_pays * (a == 0)}
        parts["length_penalty"] = -length_penalty * LENGTHS[n]
        reward = sum(v for k, v in parts.items() if k != without)
        gain = reward - reward.mean()
        share_a, share_n = _softmax(answers), _softmax(lengths)
        ratio = share_a[a] * share_n[n] / (_softmax(old_answers)[a] * _softmax(old_lengths)[n])
        gain = np.where(((ratio > 1.2) & (gain > 0)) | ((ratio < 0.8) & (gain < 0)), 0.0, gain)  # the clip of PPO
        for logits, chosen, share in ((answers, a, share_a), (lengths, n, share_n)):
            step = np.zeros_like(logits)
            np.add.at(step, chosen, gain)
            np.add(logits, learning_rate * (step / 64 - share * gain.mean()), out=logits)
        past.append((answers.copy(), lengths.copy()))
        if silent:
            continue
        private = float(_softmax(answers)[2] * _softmax(lengths)[length_needed <= LENGTHS].sum())
        log(
            {
                "reward/train_mean": float(reward.mean()),
                "reward/eval_mean": private,
                "seq/len_mean": float(LENGTHS[n].mean()),
                "async/staleness_mean": float(min(max_staleness, update - 1)),
                "nothing": float("nan"),
            },
            update,
        )


def narrow(*, updates: int, seed: int, log: Any, max_head_offpolicyness: int = 0) -> None:
    """The same, under the names of another framework, and without the other settings."""
    train(updates=updates, seed=seed, log=log, max_staleness=max_head_offpolicyness, learning_rate=6.0)


def seedless(*, updates: int, seed: int, log: Any, **settings: Any) -> None:
    """Takes no notice of the seed."""
    del seed
    train(updates=updates, seed=0, log=log, **settings)
