"""What changes by a plan changes as the settings say."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..pieces import Schedule

ROOM_FRAC = 0.02
"""Of the largest promised value: schedules counted from 0 or from 1 differ by less over a run of a hundred updates."""


@check(
    "INV014",
    "schedule-not-followed",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    fix="Compute the value where it is used from the settings and the progress, once.",
)
@skips
def look(bench: Bench) -> Answer:
    """What changes by a plan changes as the settings say.

    Measured: at several points of a run, the value that training uses (exploration rate, eta, a learning rate)
    against the one that the settings name for that point.

    Why it hurts: exploration that never falls keeps the policy at random, one that falls at once finds nothing; a step
    size that grows with the square of its plan tears the policy apart long before the run is over.

    Usual causes: progress that is never updated; a factor applied in two places; the schedule counted in another unit.

    What to try: log the value in use beside the one planned.

    Harmless: where the settings name a bound only and the trainer adapts below it; then do not promise it.

    References: failure modes R78, R88.
    """
    schedules = {name: one for name, one in bench.pieces.schedules.items() if one.promised}
    if not schedules:
        return Skip("the trainer shows nothing that changes by a plan", ("pieces.schedules",))
    for name, schedule in schedules.items():
        off = _worst(schedule)
        if off is not None:
            point, used, promised = off
            return Symptom(
                f"{name} is {used:.3g} at {point:g} where the settings say {promised:.3g}",
                f"schedules.{name}",
                {"used": used, "promised": promised, "point": point},
                component=schedule.component,
                link=schedule.link,
            )
    return None


def _worst(schedule: Schedule) -> tuple[float, float, float] | None:
    """The point, value and promise that are furthest apart; None when all are near enough."""
    rows = [(point, float(schedule.used(point)), float(right)) for point, right in schedule.promised.items()]
    size = max((abs(right) for _, _, right in rows), default=0.0)
    point, used, right = max(rows, key=lambda row: abs(row[1] - row[2]))
    return None if abs(used - right) <= ROOM_FRAC * size else (point, used, right)
