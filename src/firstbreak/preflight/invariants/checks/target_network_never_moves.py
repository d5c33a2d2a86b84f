"""The target network follows the online network."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..soft import target_move


@check(
    "INV092",
    "target-network-never-moves",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Call the update of the target network in the training loop.",
)
@skips
def look(bench: Bench) -> Answer:
    """The target network follows the online network.

    Measured: how far the target goes towards a disturbed online network when its update is due.

    Why it hurts: the critic learns one-step values of a random network for ever.

    Usual causes: the call of the soft update lost, a counter that never reaches its interval, the wrong network
    copied.

    What to try: log the distance between online and target weights.

    Harmless: never.

    References: Mnih et al. 2015, doi:10.1038/nature14236.
    """
    found = bench.once(target_move)
    if abs(found.synced_frac) > 1e-7:
        return None
    return Symptom(
        "the target network does not move when its update is due: 0 of the way", "target_critics", {"moved_frac": 0.0}
    )
