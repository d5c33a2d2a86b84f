"""What an interval really holds: its coverage, simulated, so that it can be printed beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...series import Floats
from .aggregates import IQM, MEAN, Aggregate
from .intervals import Chosen, default_method, ends

Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]


def _normal(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return random.normal(size=shape)


def _skewed(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return random.exponential(size=shape)


def _some_fail(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Three runs in ten fail and score near 0, the others near 1."""
    return np.where(random.random(shape) < 0.7, random.normal(1, 0.1, shape), random.normal(0, 0.1, shape))


def _heavy(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Student's t with 3 degrees of freedom: now and then a run far off."""
    return random.standard_t(3, size=shape)


def _one_in_ten_fails(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """One run in ten fails and scores near 0, the others near 1: of 20 runs, 12 % show no failure at all."""
    return (random.random(shape) >= 0.1) + random.normal(0.0, 0.1, shape)


def _long_tail(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return np.exp(random.normal(size=shape))


SHAPES: dict[str, Draw] = {"normal": _normal, "skewed": _skewed, "some runs fail": _some_fail, "heavy tails": _heavy}
"""How scores of seeds may be distributed."""
RARE: dict[str, Draw] = {"1 in 10 fails": _one_in_ten_fails, "log-normal": _long_tail}
"""Shapes whose mean hangs on runs that are rarely seen. Few runs cannot rule them out, and no interval for a mean holds
for all of them (Bahadur and Savage 1956, Annals of Mathematical Statistics 27)."""
MEANS = {
    "normal": 0.0, "skewed": 1.0, "some runs fail": 0.7, "heavy tails": 0.0,
    "1 in 10 fails": 0.9, "log-normal": float(np.exp(0.5)),
}  # fmt: skip
"""Their means."""
TRUTHS = 400_000
"""Runs from which another true aggregate of a shape is taken."""
AGGREGATES: dict[str, Aggregate] = {MEAN.name: MEAN, IQM.name: IQM}


@dataclass(frozen=True)
class Coverage:
    """How often the interval held the truth in simulations of one shape."""

    shape: str
    held_frac: float
    error_frac: float
    """Standard error of `held_frac`."""


@lru_cache(maxsize=64)
def measured_coverage(
    runs: int,
    tasks: int = 1,
    aggregate: str = IQM.name,
    *,
    method: Chosen | None = None,
    level: float = 0.95,
    simulations: int = 500,
    reps: int = 300,
) -> tuple[Coverage, ...]:
    """Simulate intervals of so many runs on so many tasks; return the coverage for each of `SHAPES`, then `RARE`.

    Takes about a second for 10 runs on one task.
    """
    one = AGGREGATES[aggregate]
    chosen = method or default_method(runs, trimmed=one.trimmed)
    found: list[Coverage] = []
    for name, draw in (SHAPES | RARE).items():
        random = np.random.default_rng(0)
        truth = MEANS[name] if one is MEAN else float(one.value([draw(random, (TRUTHS,))]))
        data = [draw(random, (simulations, runs)) for _ in range(tasks)]
        lo, hi = ends(data, one.value, level=level, method=chosen, reps=reps)
        held = float(np.mean((lo <= truth) & (truth <= hi)))
        found.append(Coverage(name, held, float(np.sqrt(held * (1 - held) / simulations))))
    return tuple(found)
