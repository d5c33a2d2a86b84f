"""The actor of SAC climbs the smaller of the twins, not the larger."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..twins import climbed

MOSTLY = 0.5
"""Half-way to the larger twin: a mean lies at 0, one twin alone at +1 in one of the two looks."""


@check(
    "INV112",
    "actor-climbs-larger-twin",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Take the minimum of the twins in the actor's loss.",
    explained_by=("actor-ignores-critic", "actor-lowers-critic-value"),
)
@skips
def look(bench: Bench) -> Answer:
    """The actor of SAC climbs the smaller of the twins, not the larger.

    Measured: the actor's gradient when one made-up twin rises along the actions and the other falls, each in turn the
    larger by far.

    Why it hurts: the actor goes where either critic errs upwards: what the minimum of twins is there to prevent.

    Usual causes: max in place of min, or the minimum of the negated values.

    What to try: torch.min(q1, q2) in the actor's loss.

    Harmless: for optimistic exploration on purpose. A mean of the twins, or the first alone, is not blamed.

    References: Fujimoto et al. 2018, arXiv 1802.09477; Haarnoja et al. 2018, arXiv 1812.05905.
    """
    found = bench.once(climbed)
    if found.second_larger > -MOSTLY or found.first_larger < MOSTLY:
        return None
    share = min(-found.second_larger, found.first_larger)
    return Symptom(
        f"{share:.0%} of the actor's pull comes from whichever twin is the larger",
        "update",
        {"at_second_larger": found.second_larger, "at_first_larger": found.first_larger},
    )
