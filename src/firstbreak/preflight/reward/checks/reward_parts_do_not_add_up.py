"""The check `reward-parts-do-not-add-up`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..measures import constant
from ..parts import Sum, added_up, usable_parts
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
    """The components do not add up to the reward: in some rows, in none, or one of them is not paid at all.

    What is measured:
        The gap between the reward and the sum of its parts, with weights and a constant where these fit most rows. If
        half of the rows agree, the others are off, and a part that varies but weighs nothing is not paid. If fewer
        agree, the share of the reward's variance that the parts explain: under 90 %, parts are missing; above, the sum
        is changed. That, and whatever is said of parts known by their names alone, is a note.

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
    if made.adds_up and not made.off.any():
        return _unpaid(sample, made)
    if made.adds_up:
        gap = float(np.median(made.gap[made.off]))
        return Symptom(
            f"the sum of {len(parts)} components differs from the reward in {100 * off:.2g} % of rows, by {gap:.3g}",
            "reward",
            {"off_frac": off, "median_gap": gap, "largest_gap": float(np.abs(made.gap).max()),
             "first_row": int(np.argmax(made.off)) + 1},
        )  # fmt: skip
    return _explained(sample, parts, off)


def _unpaid(sample: RewardSample, made: Sum) -> Symptom | None:
    """The rows agree: is a part reported that the reward does not hold?"""
    if not made.unpaid:
        return None
    name, count = next(iter(made.unpaid)), len(made.unpaid)
    more = f" (and {count - 1} more)" if count > 1 else ""
    return Symptom(
        f"component {name[:40]}{more} is not in the reward: it varies, and its weight is 0",
        f"reward.{name}",
        {"unpaid": count, "component": name},
        severity=None if sample.components_named else Severity.INFO,
    )


def _explained(sample: RewardSample, parts: dict[str, np.ndarray], off: float) -> Symptom:
    """Hardly a row agrees: how much of the reward do the parts say?"""
    rows = np.stack([*parts.values(), np.ones(sample.rewards.size)], axis=1)
    weights = np.asarray(np.linalg.lstsq(rows, sample.rewards, rcond=None)[0], dtype=np.float64)
    rest = sample.rewards - rows @ weights
    said = 1 - float(np.var(rest) / np.var(sample.rewards))
    little = said < LITTLE
    text = f"the {len(parts)} known components explain only {100 * said:.0f} % of the reward's variance"
    near = f"{len(parts)} components add up in {100 * (1 - off):.0f} % of rows, though they explain {100 * said:.0f} %"
    return Symptom(
        text if little else near,
        "reward",
        {"explained_frac": said, "off_frac": off},
        severity=None if little and sample.components_named else Severity.INFO,
    )
