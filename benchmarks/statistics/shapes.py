"""Shapes of scores for which intervals are tried, each with its true mean.

The first four are those of `firstbreak eval score`. Those that are `seen` were in sight when the method and its limits
were chosen; the others were drawn up afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from firstbreak.evaluation.statistics.coverage import MEANS, SHAPES

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Array]


@dataclass(frozen=True)
class Shape:
    """How the scores of runs may be distributed."""

    name: str
    draw: Draw
    mean: float
    seen: bool = False


def failing(share: float, spread: float) -> Draw:
    """Runs of which `share` score near 0, the others near 1."""

    def draw(random: np.random.Generator, size: tuple[int, ...]) -> Array:
        return (random.random(size) >= share) + random.normal(0.0, spread, size)

    return draw


def _all() -> tuple[Shape, ...]:
    own = tuple(Shape(name, draw, MEANS[name]) for name, draw in SHAPES.items())
    looked_at = (
        *own,
        Shape("half fail", failing(0.5, 0.1), 0.5),
        Shape("4 in 10 fail", failing(0.4, 0.1), 0.6),
        Shape("2 in 10 fail", failing(0.2, 0.1), 0.8),
        Shape("2 in 10 fail, wide", failing(0.2, 0.3), 0.8),
        Shape("uniform", lambda r, s: r.random(s), 0.5),
        Shape("two bounds (beta 1/2, 1/2)", lambda r, s: r.beta(0.5, 0.5, s), 0.5),
        Shape("near a ceiling (beta 5, 1)", lambda r, s: r.beta(5, 1, s), 5 / 6),
        Shape("Laplace", lambda r, s: r.laplace(size=s), 0.0),
        Shape("Student's t, 5 degrees", lambda r, s: r.standard_t(5, s), 0.0),
        Shape("Student's t, 2 degrees", lambda r, s: r.standard_t(2, s), 0.0),
        Shape("gamma, 2", lambda r, s: r.gamma(2, size=s), 2.0),
        Shape("Gumbel", lambda r, s: r.gumbel(size=s), float(np.euler_gamma)),
        Shape("chi-squared, 1 degree", lambda r, s: r.normal(size=s) ** 2, 1.0),
        Shape("log-normal, 1/2", lambda r, s: np.exp(r.normal(0.0, 0.5, s)), math.exp(0.125)),
        Shape("log-normal, 1", lambda r, s: np.exp(r.normal(size=s)), math.exp(0.5)),
        Shape("1 in 10 fails", failing(0.1, 0.1), 0.9),
    )
    return (*(replace(one, seen=True) for one in looked_at), *_afterwards())


def _afterwards() -> tuple[Shape, ...]:
    return (
        Shape("logistic", lambda r, s: r.logistic(size=s), 0.0),
        Shape("triangular", lambda r, s: r.triangular(0.0, 0.2, 1.0, s), 0.4),
        Shape("beta 2, 8", lambda r, s: r.beta(2, 8, s), 0.2),
        Shape("Weibull, 0.8", lambda r, s: r.weibull(0.8, s), math.gamma(1 + 1 / 0.8)),
        Shape(
            "three levels", lambda r, s: r.choice([0.0, 0.5, 1.0], s, p=[0.2, 0.5, 0.3]) + r.normal(0, 0.05, s), 0.55
        ),
        Shape("Lomax, 5", lambda r, s: r.pareto(5, s), 0.25),
    )


ALL = _all()
"""Every shape."""
