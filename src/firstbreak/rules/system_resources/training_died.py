"""The rule `training-died`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.runlog import CRASHED, NOT_FINITE
from firstbreak.view import RunView

BY_HAND = ("KeyboardInterrupt", "SystemExit")
"""Exceptions by which somebody ends a run on purpose."""


@dataclass(frozen=True)
class Params:
    """`training-died` has no thresholds: it reads what the run died of."""


CASES = (
    fires("a shape that does not fit", lambda: synth.died_of("RuntimeError")),
    healthy("finished", lambda: synth.like("PPO")({})),
    near_miss("a number that is not finite has a rule of its own", lambda: synth.died_of(f"ValueError {NOT_FINITE}")),
    near_miss("stopped by hand", lambda: synth.died_of("KeyboardInterrupt")),
)


@rule(
    "SYS013",
    "training-died",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    severity=Severity.WARNING,
    params=Params(),
    cases=CASES,
    static=True,
    across_phases=True,
)
def detect(view: RunView, params: Params) -> Answer:
    """Training ended with an exception.

    What it means:
        The run did not come to its end, and its curves say nothing of why: the exception does.

    Why it matters:
        Curves that look well up to the last row are no reason to call such a run healthy.

    Usual causes:
        A batch of an odd shape or length; memory that ran out; a worker or environment that was lost; numbers that are
        not finite and were never logged.

    What to try:
        Read the traceback. Replay the batch that was saved with the failed checkpoint; it fails again, or the cause
        lies in the machine.

    When it is harmless:
        The exception was raised to end the run on purpose.

    References:
        None: it is what the record says.
    """
    for event in view.log.events:
        kind = event.text.split(" ")[0][:40]
        told = kind in BY_HAND or NOT_FINITE in event.text  # the latter by `crashed-on-nonfinite`
        if event.name == CRASHED and event.at <= view.hi and not told:
            return Detection(
                message=f"training ended with {kind or 'an exception'} at {view.clock} {event.at:.6g}",
                onset=view.onset(event.at),
                metric="",
                evidence={"at": event.at},
            )
    return None
