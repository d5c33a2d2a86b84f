"""The check `preferences-at-chance`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link
from ..gate import too_few
from ..record import Scored


@check(
    "RWM006",
    "preferences-at-chance",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    fix="Check the template and the truncation before training longer.",
    explained_by=(
        "model-scores-constant",
        "model-scores-tied",
        "category-reversed",
    ),
)
def look(scored: Scored) -> Answer:
    """The scores do not tell the chosen side from the rejected one.

    What is measured:
        The accuracy over all pairs: its 95 % interval, clustered by row, holds one half and is narrow enough to
        exclude 70 %.

    Why it hurts:
        A reward at chance is noise; the policy learns whatever correlates with it.

    Usual causes:
        A wrong chat template; responses cut off; pairs of another domain; labels mixed at random.

    What to try:
        Score pairs from the model's own training data.

    When it is harmless:
        Pairs that are hard on purpose.
    """
    skip = too_few(scored)
    if skip is not None:
        return skip

    rate = scored.accuracy()
    if not rate.low <= 0.5 <= rate.high or rate.high > 0.7:
        return None
    return Symptom(
        f"the chosen side scores higher in {rate.words()} pairs (interval {rate.low:.2f} to {rate.high:.2f})",
        "score",
        {"accuracy_frac": rate.value, "low_frac": rate.low, "high_frac": rate.high, "pairs": rate.tries},
    )
