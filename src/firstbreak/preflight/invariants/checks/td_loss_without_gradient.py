"""The TD loss has a gradient on the critic."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..td_rows import targets


@check(
    "INV089",
    "td-loss-without-gradient",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Build the optimiser and the loss on the online critic.",
    explained_by=("parameter-not-in-optimiser",),
)
@skips
def look(bench: Bench) -> Answer:
    """The TD loss has a gradient on the critic.

    Measured: the gradient of the trainer's update on the online critic for TD errors of up to 0.6.

    Why it hurts: Q stays as it was.

    Usual causes: the optimiser holds another network, Q detached, a coefficient of 0.

    What to try: autograd.grad of the TD loss on the last layer of Q.

    Harmless: never.
    """
    found = bench.once(targets)
    if found.terminal.norm > 0:
        return None
    return Symptom("the TD loss has a gradient of 0 on the critic: Q does not learn", "update", {"gradient_norm": 0.0})
