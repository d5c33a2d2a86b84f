"""The check `reward-parts-do-not-add-up`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..measures import constant
from ..parts import added_up, usable_parts
from ..sample import RewardSample

LITTLE = 0.9
"""Share of variance under which parts that add up in no row say little about the reward."""


@check(
    "PRW023",
    "reward-parts-do-not-add-up",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Find the term that is missing from the report, or is paid twice, in the rows with a gap.",
)
def look(sample: RewardSample) -> Answer:
    """The components add up to the reward in most rows but not in all.

    What is measured:
        The gap between the reward and the sum of its parts, with weights and a constant where these fit most rows. If
        half of the rows agree, the others are off; if none agree and the parts explain under 90 % of the variance, it
        is a note that parts are missing from the report.

    Why it hurts:
        Either the report lacks a term, and every judgement about parts is wrong, or the reward has a term nobody meant.

    Usual causes:
        A penalty paid on a branch that is not reported; clipping after the sum; a part reported before its weight; a
        term that is paid twice at the end of an episode.

    What to try:
        Print the rows with the largest gap.

    When it is harmless:
        When only some parts are reported on purpose, or the reward is clipped or normalised after the sum.

    References:
        Rousseeuw 1984, Least median of squares regression (the trimmed fit).
    """
    parts = usable_parts(sample)
    if isinstance(parts, Skip):
        return parts
    made = added_up(sample)
    if made is None or constant(sample.rewards):
        return Skip("the reward does not vary")
    off = float(made.off.mean())
    if made.adds_up:
        if not made.off.any():
            return None
        gap = float(np.median(made.gap[made.off]))
        return Symptom(
            f"the sum of {len(parts)} components differs from the reward in {100 * off:.2g} % of rows, by {gap:.3g}",
            "reward",
            {"off_frac": off, "median_gap": gap, "largest_gap": float(np.abs(made.gap).max()),
             "first_row": int(np.argmax(made.off)) + 1},
        )  # fmt: skip
    rows = np.stack([*parts.values(), np.ones(sample.rewards.size)], axis=1)
    weights = np.asarray(np.linalg.lstsq(rows, sample.rewards, rcond=None)[0], dtype=np.float64)
    rest = sample.rewards - rows @ weights
    said = 1 - float(np.var(rest) / np.var(sample.rewards))
    if said >= LITTLE:
        return None
    return Symptom(
        f"the {len(parts)} known components explain only {100 * said:.0f} % of the reward's variance",
        "reward",
        {"explained_frac": said, "off_frac": off},
        severity=Severity.INFO,
    )
