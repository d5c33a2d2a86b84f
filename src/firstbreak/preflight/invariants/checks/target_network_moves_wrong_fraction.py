"""The target network goes the fraction tau of the way, when it is due."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..soft import target_move

ROOM_FRAC = 0.01
"""Float32 rounding of the weights, over a move of tau 0.005: below a thousandth."""


@check(
    "INV093",
    "target-network-moves-wrong-fraction",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Move the target by tau towards the online network, at its interval.",
)
@skips
def look(bench: Bench) -> Answer:
    """The target network goes the fraction tau of the way, when it is due.

    Measured: the fraction of the way to a disturbed online network that the target goes when its update is due, and
    when it is not.

    Why it hurts: a copy at each step is no target at all; too slow a one holds learning back.

    Usual causes: tau and 1 - tau exchanged, a hard copy left in, the interval ignored.

    What to try: target += tau (online - target).

    Harmless: never, unless tau is scheduled: then give its present value.
    """
    found, tau = bench.once(target_move), float(bench.setting("tau"))
    if abs(found.synced_frac) <= 1e-7:
        return Skip("the target network does not move")
    every = bench.pieces.settings.get("target_interval", 1)
    if found.update_frac is not None and abs(found.update_frac) > 1e-7:
        return Symptom(
            f"the target goes {found.update_frac:.1%} of the way in an update in which no move is due (every {every})",
            "target_critics",
            {"moved_frac": found.update_frac, "tau": tau},
        )
    if abs(found.synced_frac - tau) <= ROOM_FRAC * tau:
        return None
    return Symptom(
        f"the target goes {found.synced_frac:.2%} of the way to the online network, tau is {tau:.2%}",
        "target_critics",
        {"moved_frac": found.synced_frac, "tau": tau},
    )
