"""A terminated step does not bootstrap."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..gae import TOLERANCE, responses


@check(
    "INV040",
    "gae-terminated-keeps-bootstrap",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Multiply the bootstrap by (1 - terminated).",
    explained_by=("gae-crosses-environments",),
)
@skips
def look(bench: Bench) -> Answer:
    """A terminated step does not bootstrap.

    Measured: the change of the advantage at a terminated step when the value of what followed is raised by 1; 0 is
    right.

    Why it hurts: the end of the task is worth what the critic says of a state that is not there; values grow
    without ground.

    Usual causes: the factor (1 - terminated) missing, applied to the trace only, or taken from the wrong step.

    What to try: delta = r + gamma (1 - terminated) V(next) - V.

    Harmless: never.

    References: Schulman et al. 2015, arXiv 1506.02438.
    """
    found = bench.once(responses)
    if abs(found.bootstrap_terminated) <= TOLERANCE:
        return None
    return Symptom(
        f"after termination the next value still enters the advantage: weight {found.bootstrap_terminated:.3g}",
        "advantages",
        {"weight": found.bootstrap_terminated, "right_weight": 0.0},
    )
