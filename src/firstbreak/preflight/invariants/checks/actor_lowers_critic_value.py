"""The actor climbs Q."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..soft import actor_pull


@check(
    "INV095",
    "actor-lowers-critic-value",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Minimise alpha log pi minus Q.",
)
@skips
def look(bench: Bench) -> Answer:
    """The actor climbs Q.

    Measured: the direction of the actor's step under a made-up Q that grows along all actions, against the way that
    raises the mean action.

    Why it hurts: the policy seeks the worst action; critic loss and entropy look healthy.

    Usual causes: the sign of Q in the actor loss, costs taken for rewards.

    What to try: loss = (alpha log pi - Q).mean().

    Harmless: where the critic predicts costs: then say so by giving -Q.

    References: Haarnoja et al. 2018, arXiv 1812.05905, eq. 7.
    """
    found = bench.once(actor_pull)
    if found.change <= 1e-3 * max(found.gradient, 1e-30):
        return Skip("the critic does not reach the actor")
    if found.cosine is None:
        return Skip(
            "the actions of act() carry no gradient: return them without no_grad() or detach()",
            ("pieces.act with its gradient", "pieces.deterministic_action"),
        )
    if found.cosine > 0:
        return None
    return Symptom(
        f"the actor steps towards low Q (cosine {found.cosine:+.2f} with the way up)",
        "update",
        {"cosine": found.cosine},
    )
