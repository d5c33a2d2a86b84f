"""From effects to a verdict: the interval of the mean effect against the margin; and the seeds still needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .experiment import Side
from .plan import LOOKS
from .result import Look, Outcome
from .statistics import interval, looks_at, pairs_needed, pocock_level

RESOLUTION_FRAC = 0.05
"""A spread of effects below this share of the margin is not believed: a few seeds may agree by luck. Engineering
default; it matters only where all effects are almost equal."""


@dataclass(frozen=True)
class Schedule:
    """After how many pairs to look, and the level at which each look decides."""

    looks: tuple[int, ...]
    level: float


def schedule(effects: Sequence[float], margin: float, *, most: int, alpha: float, power: float) -> Schedule:
    """Plan the looks from the spread of the pilot's effects; their mean plays no part, so that nothing is peeked at.

    The number of pairs is that which tells an effect of twice the margin, or none, from the margin.
    """
    pilot = len(effects)
    sd = interval(effects, alpha, RESOLUTION_FRAC * margin).sd
    last = pairs_needed(sd, margin, level=alpha, power=power, least=pilot)
    looks = looks_at(pilot, min(last, most), LOOKS)
    for _ in range(5):  # looking more than once costs some pairs; the level and the number settle quickly
        level = pocock_level(looks, alpha)
        last = min(pairs_needed(sd, margin, level=level, power=power, least=pilot), most)
        if looks == looks_at(pilot, last, LOOKS):
            break
        looks = looks_at(pilot, last, LOOKS)
    return Schedule(looks, pocock_level(looks, alpha))


def look(effects: Sequence[float], margin: float, level: float) -> Look:
    """Return what `effects` say at this level."""
    seen = interval(effects, level, RESOLUTION_FRAC * margin)
    return Look(len(effects), seen.mean, seen.lo, seen.hi, level)


def verdict(seen: Look, margin: float, confirms: Side) -> Outcome:
    """Return what the interval of one look says of the hypothesis."""
    if confirms is Side.BEYOND:
        inside, outside = seen.lo > -margin and seen.hi < margin, seen.lo > margin or seen.hi < -margin
        yes, no = outside, inside
    else:
        above, below = seen.lo > margin, seen.hi < margin
        yes, no = (above, below) if confirms is Side.ABOVE else (below, above)
    return Outcome.CONFIRMED if yes else Outcome.REFUTED if no else Outcome.INCONCLUSIVE


def proven(effects: Sequence[float], margin: float, confirms: Side) -> bool:
    """Whether one of `effects` lies on the predicted side of the margin, where one is proof (`Plan.one_proves`)."""
    return any(verdict(Look(1, e, e, e, 0.0), margin, confirms) is Outcome.CONFIRMED for e in effects)


def still_needed(effects: Sequence[float], margin: float, confirms: Side, *, alpha: float, power: float) -> int:
    """Return how many further pairs would most likely decide, if the effect is what it seems to be."""
    seen = interval(effects, alpha, RESOLUTION_FRAC * margin)
    distance = abs((abs(seen.mean) if confirms is Side.BEYOND else seen.mean) - margin)
    return max(pairs_needed(seen.sd, distance, level=alpha, power=power) - len(effects), 1)
