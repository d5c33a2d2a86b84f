"""The reward that is stored is the one that was paid for this step."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Number, Severity, Skip
from ..bench import Bench, skips
from ..stored import pairs

TOLERANCE = 1e-5
"""Float32 storage of a float64 reward."""


@check(
    "INV031",
    "stored-reward-differs",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Store the reward of the very step whose action is stored, unchanged.",
)
@skips
def look(bench: Bench) -> Answer:
    """The reward that is stored is the one that was paid for this step.

    Measured: stored rewards against the environments' own record; on-policy, truncated steps are left to the
    advantages.

    Why it hurts: a shifted reward credits the next action; a clipped one hides what matters.

    Usual causes: reward appended before the step, an index one off, clipping or scaling left on from another task.

    What to try: store (obs, action, reward, next obs) from one and the same step() call; make clipping a setting.

    Harmless: when rewards are normalised or clipped on purpose: then say so and compare what was meant.
    """
    found = bench.once(pairs)
    if "reward" not in found.stored:
        return Skip("stored rows hold no reward", ("pieces.rollout",))
    keep = ~found.seen["truncated"] if bench.on_policy else found.seen["truncated"] | True
    given, paid = found.stored["reward"].reshape(-1)[keep], found.seen["reward"].reshape(-1)[keep]
    wrong = (given - paid).abs() > TOLERANCE * (1.0 + paid.abs())
    share = float(wrong.float().mean())
    if not share:
        return None
    before = found.preceding["reward"].reshape(-1)[keep]
    has = found.preceding["has"][keep]
    late = float(((given - before).abs() <= TOLERANCE * (1.0 + before.abs()))[has].float().mean())
    evidence: dict[str, Number] = {"wrong_frac": share, "late_frac": late, "rows_n": len(given)}
    if late > 0.9:
        return Symptom(
            f"{late:.0%} of {len(given)} stored rewards are those of the step before",
            "reward",
            evidence,
            component=Component.ROLLOUT,
        )
    top = float(given.abs().max())
    capped = float((given.abs()[wrong] >= top * (1 - 1e-6)).float().mean())
    if capped > 0.9:
        return Symptom(f"rewards are clipped to {top:.3g}: {share:.0%} of {len(given)} are cut", "reward", evidence)
    return Symptom(f"{share:.0%} of {len(given)} stored rewards are not those that were paid", "reward", evidence)
