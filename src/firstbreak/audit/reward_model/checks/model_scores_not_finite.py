"""The check `model-scores-not-finite`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..record import Scored


@check(
    "RWM002",
    "model-scores-not-finite",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Find the text behind the first such score; check precision and empty inputs.",
)
def look(scored: Scored) -> Answer:
    """Scores are NaN, infinite or missing.

    What is measured:
        The share of responses of the pairs whose score is no finite number.

    Why it hurts:
        One NaN spreads through the normalisation to every advantage of the batch.

    Usual causes:
        Half precision that overflows; an empty response; a padding token that is not set.

    What to try:
        Score in float32; score the named rows one at a time.

    When it is harmless:
        Never, unless the trainer leaves such samples out.
    """
    bad = ~scored.valid
    if not scored.pairs or scored.ended:
        return Skip("nothing was scored to the end", ("a scorer that runs",)) if scored.ended else None
    if not bad.any():
        return None
    first = scored.pairs[int(bad.argmax())]
    return Symptom(
        f"{int(bad.sum())} of {len(scored.pairs)} pairs hold a score that is not finite, first row {first.row}",
        "scorer",
        {"pairs_hit": int(bad.sum()), "pairs": len(scored.pairs), "first_row": first.row},
    )
