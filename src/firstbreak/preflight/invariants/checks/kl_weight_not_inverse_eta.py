"""The KL term weighs 1/eta."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..kernel_terms import terms

ROOM_FRAC = 0.2
"""The other direction of the KL differs by less after a small nudge; eta and 1/eta differ by a factor."""


@check(
    "INV102",
    "kl-weight-not-inverse-eta",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Divide the KL by eta.",
)
@skips
def look(bench: Bench) -> Answer:
    """The KL term weighs 1/eta.

    Measured: the KL term over the KL(new, old) summed over all actions, after a small nudge of the actor.

    Why it hurts: a growing eta, meant to allow larger steps, then makes smaller ones, or the other way round.

    Usual causes: multiplied by eta where divided is meant; the schedule inverted twice.

    What to try: KL / eta.

    Harmless: with another direction of the KL, which differs in second order only.

    References: Gupta and Mahajan 2026, arXiv 2603.17875, eq. 6.2.
    """
    found = bench.once(terms)
    eta = found.state.get("eta")
    if eta is None or found.kl_weight is None:
        return Skip("eta, or the KL itself, is not known here", ("pieces.state",) if eta is None else ())
    right = 1.0 / float(eta)
    if abs(found.kl_weight - right) <= ROOM_FRAC * right or found.kl_weight <= 0:
        return None
    what = (
        "it is eta itself" if abs(found.kl_weight - float(eta)) <= ROOM_FRAC * float(eta) else "neither eta nor 1/eta"
    )
    return Symptom(
        f"the KL term weighs {found.kl_weight:.3g}, 1/eta is {right:.3g}: {what}",
        "losses",
        {"weight": found.kl_weight, "right_weight": right},
    )
