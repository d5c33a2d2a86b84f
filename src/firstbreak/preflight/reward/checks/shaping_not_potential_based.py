"""The check `shaping-not-potential-based`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..sample import RewardSample


@check(
    "PRW039",
    "shaping-not-potential-based",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Pay gamma * potential(s') - potential(s), 0 in place of potential(s') at true ends (PotentialShaping).",
)
def look(sample: RewardSample) -> Answer:
    """The shaping term changes which policies are best: it is not gamma * potential(s') - potential(s).

    What is measured:
        The term that `--shaping` names, on the steps of random play: against the potential that `--potential` names; or
        whether any potential explains it, over closed loops where states come back and by a smooth fit judged on
        held-out episodes where they do not. Also the discount it uses, true ends (the potential must be 0) and time
        limits (it must be kept). Where the steps prove neither, it could not look, and the reason says what is missing.

    Why it hurts:
        The agent optimises the bonus: it circles, stays, or dies early, while the shaped return rises.

    Usual causes:
        The difference without the discount; progress paid and going back free; the potential itself paid each step; the
        end's potential not set to 0, or set to 0 at a time limit as well; a cost of the action inside the term.

    What to try:
        `PotentialShaping(potential, gamma).wrap(env)`; report the return without the term.

    When it is harmless:
        When the term is part of the task and meant to change it.

    References:
        Ng, Harada & Russell 1999; Grzes 2017 (ends); Devlin & Kudenko 2012 (potentials that change over time).
    """
    seen = sample.shaping
    if seen is None:
        return Skip("no shaping term was named")
    if not seen.faults:
        return Skip(seen.undecided, withholds=True) if seen.undecided else None
    first = seen.faults[0]
    more = f" (and {len(seen.faults) - 1} more)" if len(seen.faults) > 1 else ""
    return Symptom(
        f"{first.message}{more}, {seen.steps} steps",
        "shaping",
        {"fault": first.name, "faults": len(seen.faults), "steps": seen.steps, "largest_gap": seen.largest_gap,
         **first.evidence},
    )  # fmt: skip
