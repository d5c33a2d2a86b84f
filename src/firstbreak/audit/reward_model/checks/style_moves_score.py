"""The check `style-moves-score`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link
from ...verifier.rates import Rate, clustered_rate
from ..gate import LEAST, too_few
from ..record import Scored

SAME_WAY = 0.75
"""Share of rows, surely exceeded. Engineering default."""
SHIFT = 0.5
"""Shift, in typical differences of a pair, from which on style outweighs many labels. Engineering default."""


@check(
    "RWM010",
    "style-moves-score",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    fix="Add matched pairs that differ in style only, labelled as ties.",
    explained_by=("model-scores-constant",),
)
def look(scored: Scored) -> Answer:
    """The same response scores higher, or lower, in another dress.

    What is measured:
        The chosen responses with sentences that add nothing, and as a bulleted list with a heading: the share of
        rows in which the score moves the same way (95 % interval above three quarters), and a mean shift of at
        least half of a typical score difference between the sides of a pair.

    Why it hurts:
        Style is cheaper than substance: the policy adopts it first, and everywhere.

    Usual causes:
        Annotators and judges who like lists and politeness.

    What to try:
        Watch the share of bulleted and padded responses beside the reward.

    When it is harmless:
        Where the style is wanted.

    References:
        Liu et al. 2024 (RM-Bench), arXiv 2410.16184.
    """
    skip = too_few(scored)
    if skip is not None:
        return skip

    found = {name: _moved(scored, name) for name in ("padded", "markdown")}
    biased = {name: m for name, m in found.items() if m is not None}
    if not biased:
        return None
    name = max(biased, key=lambda n: abs(biased[n][1]))
    rate, shift = biased[name]
    word = "higher" if shift > 0 else "lower"
    return Symptom(
        f"{name} responses score {word} in {rate.words()} rows, by {abs(shift):.1f} typical differences",
        "score",
        {
            "style": name,
            "same_way_frac": rate.value,
            "low_frac": rate.low,
            "shift_in_differences": shift,
            "rows": rate.tries,
        },
    )


def _moved(scored: Scored, name: str) -> tuple[Rate, float] | None:
    """Return the share of rows that move one way and the mean shift in typical differences, where both are large."""
    dressed = scored.dressed.get(name, np.empty(0))
    plain = scored.chosen[: dressed.size]
    use = np.isfinite(dressed) & np.isfinite(plain)
    if use.sum() < LEAST or not scored.typical:
        return None
    moves = (dressed - plain)[use]
    shift = float(moves.mean()) / scored.typical
    rows = [p.row for p, ok in zip(scored.pairs, use, strict=False) if ok]
    rate = clustered_rate(zip(rows, (moves * np.sign(shift) > 0).tolist(), strict=True))
    return (rate, shift) if rate.low > SAME_WAY and abs(shift) >= SHIFT else None
