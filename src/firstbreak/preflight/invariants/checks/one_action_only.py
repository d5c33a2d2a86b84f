"""Before training more than one of the discrete actions is tried."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..stored import pairs

FEWEST = 30
"""With two equally likely actions thirty the same have a chance of 2^-29."""


@check(
    "INV026",
    "one-action-only",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    fix="Explore while collecting: epsilon near 1 at first, or draws from the policy.",
)
@skips
def look(bench: Bench) -> Answer:
    """Before training more than one of the discrete actions is tried.

    Measured: the different actions that the environments received in the trainer's first steps, before any update.

    Why it hurts: a value that is never tried is never learnt; the first greedy action wins for ever.

    Usual causes: epsilon of 0 from the start, a last layer of zeros with ties broken towards action 0, a
    deterministic flag left on.

    What to try: start epsilon at 1 and lower it; draw from the policy while collecting.

    Harmless: never at the start of training from scratch.
    """
    n = bench.pieces.settings.get("n_actions")
    if not n or n < 2:
        return Skip("actions are not discrete")
    found = bench.once(pairs)
    kinds, tried = len(found.seen["action"].unique()), len(found.index.unique())
    if kinds > 1 or tried < FEWEST:
        return None
    return Symptom(
        f"the first {tried} actions were all the same one of {n}", "action", {"actions_n": tried, "kinds_n": kinds}
    )
