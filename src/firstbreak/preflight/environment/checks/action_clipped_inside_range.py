"""The check `action-clipped-inside-range`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import is_image
from ..recorded import NOTHING
from ..sweep import NoSweep, Sweep, sweep_of, without_effect
from ..world import World

LEAST_FRAC = 0.2
"""Share of the range. With 9 values one flat interval is 12 %, with 5 values 25 %."""


@check(
    "PEN055",
    "action-clipped-inside-range",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Declare the range that the simulator uses, and put rescaling inside clipping.",
)
def look(world: World) -> Answer:
    """Part of the declared action range does nothing: the action is clipped inside it.

    What is measured:
        The response to 5 or 9 values over each dimension's range, held for 8 steps from several states. Neighbouring
        values at the ends with equal outcomes are flat.

    Why it hurts:
        On the flat part the log-prob belongs to an action that is not executed and the gradient is 0; random play sits
        at the ends.

    Usual causes:
        Clipping to narrower bounds than those declared; rescaling applied before the clip instead of after it; a
        wrapper in the wrong order.

    What to try:
        Print what the simulator gets for the bounds of the space, and order the wrappers: clip outside, rescale inside.

    When it is harmless:
        A space declared unbounded that a wrapper clips on purpose: a note. A camera may hide small differences: a
        note. Flat at one end only may be a dead zone by design, such as an engine that starts at half throttle: a
        note.

    References:
        Gymnasium, wrappers.ClipAction and wrappers.RescaleAction.
    """
    if not world.episodes:
        return NOTHING
    sweep = sweep_of(world)
    if isinstance(sweep, NoSweep):
        return Skip(sweep.reason, ("a seed that repeats an episode",))
    if sweep.discrete:
        return Skip("the actions are discrete")
    dead = without_effect(sweep)
    flat = {d: flat_ends(sweep, d) for d in range(len(sweep.values)) if d not in dead}
    clipped = {d: ends for d, ends in flat.items() if max(ends) >= LEAST_FRAC}
    if not clipped:
        return None
    both = {d: ends for d, ends in clipped.items() if min(ends) >= LEAST_FRAC}
    worst = max(both or clipped, key=lambda d: sum(clipped[d]))
    low, high = clipped[worst]
    if not _bounded(world.action_space, worst):
        return _unbounded(sweep, worst, (low, high))
    return Symptom(
        f"action dimension {worst} does nothing in {100 * (low + high):.0f} % of its range: flat at "
        f"{'both ends' if worst in both else 'one end'}",
        f"action[{worst}]",
        {"flat_low_frac": low, "flat_high_frac": high, "dimensions": len(clipped), "states": sweep.states},
        severity=None if both and not is_image(world) else Severity.INFO,
    )


def _bounded(space: Any, dimension: int) -> bool:
    bounds = [float(np.ravel(side)[dimension]) for side in (space.low, space.high)]
    return bool(np.isfinite(bounds).all())


def _unbounded(sweep: Sweep, dimension: int, flat: tuple[float, float]) -> Symptom:
    """A note: wrappers.ClipAction declares an unbounded space on purpose, for policies that do not squash."""
    values = sweep.values[dimension]
    ends = [round(share * (len(values) - 1)) for share in flat]
    inner = values[ends[0]], values[len(values) - 1 - ends[1]]
    return Symptom(
        f"action dimension {dimension} is declared unbounded and cut: all below {inner[0]:.3g} or above "
        f"{inner[1]:.3g} does the same",
        f"action[{dimension}]",
        {"low": float(inner[0]), "high": float(inner[1]), "states": sweep.states},
        severity=Severity.INFO,
    )


def flat_ends(sweep: Sweep, dimension: int) -> tuple[float, float]:
    """Return the shares of a dimension's range, from its low and its high end, over which no outcome changes."""
    count = len(sweep.values[dimension])
    outcomes = sweep.outcomes[:, dimension, :count]
    same = [bool(np.array_equal(outcomes[:, i], outcomes[:, i + 1])) for i in range(count - 1)]
    low = same.index(False) if False in same else len(same)
    high = same[::-1].index(False) if False in same else len(same)
    return low / len(same), high / len(same)
