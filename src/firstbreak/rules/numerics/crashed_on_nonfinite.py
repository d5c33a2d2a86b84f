"""The rule `crashed-on-nonfinite`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.runlog import CRASHED, NOT_FINITE
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """`crashed-on-nonfinite` has no thresholds: it reads what the run died of."""


CASES = (
    fires("NaN in the policy's logits", lambda: synth.died_of(f"ValueError {NOT_FINITE}")),
    healthy("finished", lambda: synth.like("PPO")({})),
    near_miss("stopped by hand", lambda: synth.died_of("KeyboardInterrupt")),
)


@rule(
    "NUM020",
    "crashed-on-nonfinite",
    link=Link.NUMERICS,
    component=Component.LOSS,
    severity=Severity.ERROR,
    params=Params(),
    cases=CASES,
    static=True,
    across_phases=True,
    implies=("run-stalled",),
)
def detect(view: RunView, params: Params) -> Answer:
    """The run died of a number that is not finite.

    What it means:
        The exception that ended training speaks of NaN or infinity. No row may show it: a policy whose weights hold NaN
        cannot act, so the run ends before it logs again.

    Why it matters:
        The weights are void from that update on, and so is any checkpoint that was written after it.

    Usual causes:
        An update with an overflowing loss or gradient in the last row; a weight that was changed from outside; an
        observation or reward that is not finite.

    What to try:
        Load the last checkpoint, replay the saved failed batch with finite checks on every tensor, first without
        mixed precision.

    When it is harmless:
        Never; where the exception only quotes such a number, suppress the finding for that run.

    References:
        IEEE 754 arithmetic: infinities and NaN spread through sums and products.
    """
    for event in view.log.events:
        if event.name == CRASHED and NOT_FINITE in event.text and event.at <= view.hi:
            return Detection(
                message=f"training ended with {event.text.split(' ')[0][:40]} at {view.clock} {event.at:.6g}",
                onset=view.onset(event.at),
                metric="",
                evidence={"at": event.at},
            )
    return None
