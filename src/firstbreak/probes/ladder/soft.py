"""What a temperature adds to the values of a soft learner: right values that look too large."""

from __future__ import annotations

import math

from .outcome import Outcome
from .reading import Reading, tolerance
from .rung import Answers, Rung


def soft_values(rung: Rung, outcome: Outcome, reading: Reading, answers: Answers, gamma: float) -> str:
    """Say how the entropy bonus explains values that are not the right ones; empty where it does not.

    A soft learner (SAC; Haarnoja et al. 2018, arXiv 1812.05905, equation 3) values each later step at its reward and
    temperature times entropy. Where actions do not matter, the entropy is at most that of a uniform policy, log of the
    range: with temperature alpha, Q is too large by at most alpha log(range) gamma / (1 - gamma), in nats.
    """
    heat = outcome.temperature
    if rung.asks != "value" or not heat or heat <= 0 or not reading.finite or gamma >= 1:
        return ""
    most = heat * _largest_entropy(rung, outcome.kind) * (gamma if outcome.q else 1.0) / (1.0 - gamma)
    slack = tolerance(rung, answers)
    if most < slack or len(reading.obtained) != len(answers.right):
        return ""
    excess = [got - right for got, right in zip(reading.obtained, answers.right, strict=True)]
    if min(excess) < -slack or max(excess) > most + slack:
        return ""
    return f"a temperature of {heat:.2g} may add up to {most:.2g} to a value"


def _largest_entropy(rung: Rung, kind: str) -> float:
    """Of a uniform policy, in nats. SB3 counts in [-1, 1] whatever the bounds are, TorchRL in the bounds."""
    world = rung.world
    if kind == "discrete":
        return math.log(max(world.cells, 2))
    sizes = [max(high - low, 2.0) for low, high in zip(world.low, world.high, strict=True)]
    return sum(math.log(size) for size in sizes)
