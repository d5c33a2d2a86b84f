"""Whether an update draws random numbers, so that two gradients of the same rows differ by chance."""

from __future__ import annotations

from typing import Any, cast

from .bench import Bench
from .capture import gradients
from .owned import actor_weights
from .policy_rows import base_batch, some_advantages
from .rows import vector
from .torch_types import Tensor, load_torch

CHANCE_FRAC = 1e-3
"""Another order of summation changes a float32 gradient by about 1e-6 of its size; random numbers by far more."""


def draws(bench: Bench) -> bool:
    """Whether the policy's gradient on the same rows is another one under another seed."""
    batch, weights = bench.once(base_batch), actor_weights(bench)
    both = [gradients(bench.pieces, batch, seed) for seed in (bench.seed, bench.seed + 1)]
    if both[0] is None or both[1] is None:
        return False
    first, second = (vector(one, weights) for one in both if one is not None)
    size = max(float(first.norm()), float(second.norm()))
    return size > 0 and float((first - second).norm()) > CHANCE_FRAC * size


def redrawn_frac(bench: Bench) -> float:
    """How much of what advantages do to the actor changes with the seed, where scoring the rows draws nothing.

    Advantages move the log-probs of the stored actions, and those are what they are: with another seed the difference
    of the gradients with and without advantages must stay. 0 where scoring itself is random (dropout).
    """
    batch, weights = bench.once(base_batch), actor_weights(bench)
    if _scores_at_random(bench, batch):
        return 0.0
    advantage = some_advantages(bench.seed)
    pulls = [_pull(bench, batch, {**batch, "advantage": advantage}, seed) for seed in (bench.seed, bench.seed + 1)]
    first, second = (vector(one, weights) for one in pulls)
    size = max(float(first.norm()), float(second.norm()))
    return float((first - second).norm()) / size if size > 0 else 0.0


def _pull(bench: Bench, idle: dict[str, Tensor], batch: dict[str, Tensor], seed: int) -> dict[int, Tensor]:
    """The gradients on `batch` without those on `idle`."""
    with_it, without = (gradients(bench.pieces, rows, seed) or {} for rows in (batch, idle))
    return {key: value - without.get(key, 0.0) for key, value in with_it.items()}


def _scores_at_random(bench: Bench, batch: dict[str, Tensor]) -> bool:
    score = cast(Any, bench.pieces.log_prob)
    with load_torch().no_grad():
        return not bool((score(batch["obs"], batch["action"]) == score(batch["obs"], batch["action"])).all())
