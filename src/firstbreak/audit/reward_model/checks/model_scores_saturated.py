"""The check `model-scores-saturated`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Skip
from ..gate import too_few
from ..record import Scored

SHARE = 0.2
"""Share of scores at one end. Engineering default."""


@check(
    "RWM008",
    "model-scores-saturated",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    fix="Train or read the score before its squashing function.",
    explained_by=("model-scores-constant",),
)
def look(scored: Scored) -> Answer:
    """Many scores sit exactly at the highest or lowest value.

    What is measured:
        The share of responses whose score equals the extreme one, when scores take more than ten values: above a
        fifth.

    Why it hurts:
        At the ceiling a better response is worth nothing more; the policy stops there or drifts.

    Usual causes:
        A sigmoid in half precision; clipping; a scale that ends at the best grade.

    What to try:
        Use logits; widen the clip.

    When it is harmless:
        Grades on a short scale, whose best is often deserved.
    """
    skip = too_few(scored)
    if skip is not None:
        return skip

    values = scored.everything
    if len(np.unique(values)) <= 10:
        return Skip("the scores take ten values or fewer: a scale of grades")
    shares = {"highest": float((values == values.max()).mean()), "lowest": float((values == values.min()).mean())}
    side = max(shares, key=lambda s: shares[s])
    if shares[side] <= SHARE:
        return None
    return Symptom(
        f"{100 * shares[side]:.0f} % of {values.size} scores equal the {side} one",
        "score",
        {"at_extreme_frac": shares[side], "side": side, "scores": values.size},
    )
