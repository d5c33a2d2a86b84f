"""What is logged of a rollout is what its columns hold."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips

ROOM_FRAC = 0.02
"""Dividing by n or by n - 1 differs by less for the rollouts that are looked at."""

MEASURES: dict[str, Callable[[Any], Any]] = {
    "advantage/abs_max": lambda b: b["advantage"].abs().max(),
    "advantage/abs_mean": lambda b: b["advantage"].abs().mean(),
    "advantage/std": lambda b: b["advantage"].std(correction=0),
    "critic/explained_variance": lambda b: (
        1 - (b["value_target"] - b["value"]).var(correction=0) / b["value_target"].var(correction=0)
    ),
    "critic/value_mean": lambda b: b["value"].mean(),
    "critic/target_mean": lambda b: b["value_target"].mean(),
    "reward/step_mean": lambda b: b["reward"].mean(),
}
"""Canonical name -> the same from the columns of the rollout."""


@check(
    "INV015",
    "logged-value-differs",
    link=Link.NUMERICS,
    component=Component.LOGGING,
    severity=Severity.WARNING,
    fix="Log what was computed once as it is; divide only sums, and by how many were added.",
)
@skips
def look(bench: Bench) -> Answer:
    """What is logged of a rollout is what its columns hold.

    Measured: explained variance, advantages, values and rewards that one update logs, against the same computed from
    the columns of the rollout before it.

    Why it hurts: every look at the run, by people and by rules, is at other numbers than those of the training; alarms
    with a threshold never sound.

    Usual causes: all metrics divided by the number of gradient steps; normalised in place of raw columns; the mean of
    the last minibatch in the place of all.

    What to try: print the value where it is computed and where it is logged.

    Harmless: where a name means something else in this trainer; then do not give it the canonical name.

    References: failure modes, section 0.1 and R05.
    """
    bench.need("logged")
    assert bench.pieces.logged is not None
    rollout, logged = bench.pieces.logged()
    known = [name for name in MEASURES if name in logged]
    if not known:
        return Skip("nothing is logged under a canonical name that a rollout can be held against", ("pieces.logged",))
    for name in known:
        right, said = float(MEASURES[name](rollout)), float(logged[name])
        if isfinite(right) and not abs(said - right) <= ROOM_FRAC * abs(right) + 1e-5:  # what is not is told elsewhere
            return Symptom(
                f"{name} is logged as {said:.4g}, the rollout holds {right:.4g}",
                name,
                {"logged": said, "right": right, "compared_n": len(known)},
            )
    return None
