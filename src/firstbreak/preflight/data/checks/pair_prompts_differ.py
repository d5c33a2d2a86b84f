"""The check `pair-prompts-differ`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..counting import shown
from ..datafile import DataFile
from ..gate import lacks

MANY = 0.01
"""From one pair in a hundred on it is not a stray."""


@check(
    "PDT005",
    "pair-prompts-differ",
    link=Link.ENVIRONMENT_DATA,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Join chosen and rejected on the prompt, not on the row number.",
)
def look(data: DataFile) -> Answer:
    """Chosen and rejected answer different prompts.

    What is measured:
        Where both sides are conversations: whether what comes before the last reply is the same on both sides.

    Why it hurts:
        The pair compares answers to different questions; the model learns to prefer questions.

    Usual causes:
        Two files joined by row number of which one lost a line; one side shuffled; another system message on one side.

    What to try:
        Look at the first row named; build pairs from groups of answers to one prompt.

    When it is harmless:
        Conversations that were branched early on purpose, so that the whole rest counts as the answer.

    References:
        Ouyang et al. 2022, arXiv 2203.02155: comparisons are between answers to one prompt.
    """
    skip = lacks(data, "chosen", "rejected")
    if skip is not None:
        return skip
    pairs = data.with_texts("chosen", "rejected")
    apart = [s for s in pairs if s.prompts_differ]
    if not apart:
        return None
    return Symptom(
        f"{shown(len(apart), len(pairs))} pairs answer different prompts, first row {apart[0].number}",
        "prompt",
        {"differ": len(apart), "pairs": len(pairs), "first_row": apart[0].number},
        severity=None if len(apart) >= MANY * len(pairs) else Severity.INFO,
    )
