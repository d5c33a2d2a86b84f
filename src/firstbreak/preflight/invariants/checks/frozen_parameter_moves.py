"""Parameters meant to stay do not move."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..optimising import rounds


@check(
    "INV009",
    "frozen-parameter-moves",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    fix="Switch requires_grad off for it and take it out of every optimiser.",
)
@skips
def look(bench: Bench) -> Answer:
    """Parameters meant to stay do not move.

    Measured: the parameters in settings['frozen'] before and after the trainer's own first rounds.

    Why it hurts: a reference or an encoder that drifts takes away what the rest is measured against.

    Usual causes: requires_grad left on, the module in an optimiser, weight decay on a parameter without gradient.

    What to try: switch requires_grad off and take it out of the optimiser.

    Harmless: never: it was said to stay.
    """
    from ..optimising import frozen_names

    if not frozen_names(bench):
        return Skip("no parameter is meant to stay")
    found = bench.once(rounds)
    if not found.moved_frozen:
        return None
    name = found.moved_frozen[0]
    return Symptom(
        f"{len(found.moved_frozen)} parameters meant to stay were moved, {name} first",
        name,
        {"parameters_n": len(found.moved_frozen)},
    )
