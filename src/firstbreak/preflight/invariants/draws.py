"""Whether an update draws random numbers of its own, so that two gradients of the same rows differ by chance."""

from __future__ import annotations

from .bench import Bench
from .capture import gradients
from .policy_rows import actor_weights, base_batch
from .rows import vector

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
