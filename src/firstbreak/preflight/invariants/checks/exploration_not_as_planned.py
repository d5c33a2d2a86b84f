"""The share of random actions is the exploration rate."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..behaving import greedy
from ..bench import Bench, skips

ERRORS = 6.0
"""Standard errors of a share of 400 actions: by chance once in a billion."""


@check(
    "INV115",
    "exploration-not-as-planned",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    fix="Play a random action where a uniform number is below epsilon, the greedy one elsewhere.",
    explained_by=("schedule-not-followed",),
)
@skips
def look(bench: Bench) -> Answer:
    """The share of random actions is the exploration rate.

    Measured: how often training plays the action of the largest Q, at the start and at the end of a run, against the
    exploration rate that it has there.

    Why it hurts: an agent that is greedy while epsilon is 1 never explores, and one that is random while epsilon is 0
    never uses what it has learnt; the curve of epsilon looks right all the while.

    Usual causes: the comparison turned round; epsilon compared with a percentage; the greedy branch replaced.

    What to try: play 400 actions at epsilon 0 and count.

    Harmless: with other ways of exploring (noisy networks, Boltzmann); then show no plan of an exploration rate.

    References: Mnih et al. 2015, doi:10.1038/nature14236.
    """
    worst = max(bench.once(greedy), key=lambda one: one.errors)
    if worst.errors <= ERRORS:
        return None
    return Symptom(
        f"{worst.greedy_frac:.0%} of the actions are greedy where an exploration rate of {worst.rate:.2g} means "
        f"{worst.most_frac:.0%}",
        "behaviour",
        {"greedy_frac": worst.greedy_frac, "expected_frac": worst.most_frac, "done_frac": worst.done_frac},
    )
