"""The check `model-scores-tied`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link
from ...verifier.rates import clustered_rate
from ..gate import too_few
from ..record import Scored

MANY = 0.1
"""Share of ties, surely exceeded. Engineering default."""


@check(
    "RWM007",
    "model-scores-tied",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    fix="Let the score have more levels, or break ties by a second judge.",
    explained_by=("model-scores-constant",),
)
def look(scored: Scored) -> Answer:
    """Many pairs score exactly alike.

    What is measured:
        The share of pairs whose two scores are equal, with its 95 % interval: surely above 10 %.

    Why it hurts:
        Ties give no gradient between a better and a worse response; groups lose their spread.

    Usual causes:
        Rounded or integer scores of a judge; truncation that drops the part in which the sides differ; clipping.

    What to try:
        Look at the lengths of tied pairs against the truncation length.

    When it is harmless:
        Coarse grades that are meant.
    """
    skip = too_few(scored)
    if skip is not None:
        return skip

    rate = clustered_rate(zip(scored.rows.tolist(), (scored.differences == 0).tolist(), strict=True))
    if rate.low <= MANY:
        return None
    return Symptom(
        f"{rate.words()} pairs score exactly alike",
        "score",
        {"ties_frac": rate.value, "low_frac": rate.low, "pairs": rate.tries},
    )
