"""The check `preferences-reversed`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..gate import too_few
from ..record import Scored


@check(
    "RWM004",
    "preferences-reversed",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Swap the labels or the sign of the score after reading ten pairs.",
    explained_by=("model-scores-constant",),
)
def look(scored: Scored) -> Answer:
    """The rejected side scores higher more often than the chosen side.

    What is measured:
        The accuracy over all pairs and its 95 % interval clustered by row: it lies wholly below one half.
        Where the chosen side surely wins when it is the longer one, or the shorter one, length is what decides, and
        there is no finding.

    Why it hurts:
        Training on such scores makes exactly the unwanted responses.

    Usual causes:
        Chosen and rejected swapped in the file; a score that is a loss, a rank or a probability of being bad.

    What to try:
        Read ten pairs; score a plainly good and a plainly bad response.

    When it is harmless:
        Sets of pairs made to fool a reward model, judged on purpose.
    """
    skip = too_few(scored)
    if skip is not None:
        return skip

    rate = scored.accuracy()
    if rate.high >= 0.5 or scored.length_tells():
        return None
    return Symptom(
        f"the chosen side scores higher in only {rate.words()} pairs (interval {rate.low:.2f} to {rate.high:.2f})",
        "score",
        {"accuracy_frac": rate.value, "low_frac": rate.low, "high_frac": rate.high, "pairs": rate.tries},
    )
