"""The check `tool-output-in-loss`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..counting import shown
from ..datafile import DataFile
from ..rows import Sample
from ..tokens import Mask, in_loss, runs


@check(
    "PDT022",
    "tool-output-in-loss",
    link=Link.ENVIRONMENT_DATA,
    component=Component.LOSS_MASK,
    severity=Severity.ERROR,
    fix="Set the loss mask to 0 on everything that a tool, the environment or the user wrote.",
)
def look(data: DataFile) -> Answer:
    """What a tool or the user wrote is in the loss.

    What is measured:
        Messages of a tool or the user that the file marks as trained on; tokens that are both in the tool mask and in
        the loss; and conversations with a tool message whose loss mask has fewer stretches than the assistant has
        turns, so that it runs through what was said between them.

    Why it hurts:
        The policy is made to imitate the environment: it invents tool results, and the log-probabilities of tokens
        that it did not choose distort ratios and KL.

    Usual causes:
        A mask that begins at the first reply and runs to the end; tool results written with the assistant's role.

    What to try:
        Decode the tokens in the loss of the first row named.

    When it is harmless:
        World models that are meant to predict what a tool answers.

    References:
        Jin et al. 2025, arXiv 2503.09516 (retrieved tokens are masked in the loss).
    """
    flagged = [s for s in data.samples if any(t.trained is not None for t in s.turns)]
    masked = data.with_tokens("input_ids", "tool_mask")
    told = [s for s in data.samples if any(t.speaker == "tool" for t in s.turns) and in_loss(s) is not None]
    if not (flagged or masked or told):
        return Skip("nothing in the file tells what a tool wrote")
    hit = [s.number for s in flagged if any(t.trained and t.speaker in ("tool", "user") for t in s.turns)]
    hit += [s.number for s in masked if _both(s)]
    hit += [s.number for s in told if _too_few_runs(s)]
    rows = len({s.number for s in (*flagged, *masked, *told)})
    if not hit:
        return None
    hit = sorted(set(hit))
    return Symptom(
        f"{shown(len(hit), rows)} rows have the words of a tool or user in the loss, first row {hit[0]}",
        "messages" if flagged else "loss_mask",
        {"rows_hit": len(hit), "rows": rows, "first_row": hit[0]},
    )


def _both(sample: Sample) -> bool:
    mask = in_loss(sample)
    return mask is not None and bool((mask & (sample.tokens["tool_mask"] != 0)).any())


def _too_few_runs(sample: Sample) -> bool:
    mask = in_loss(sample)
    speakers = [t.speaker for t in sample.turns]
    replies = sum(s == "assistant" and (i == 0 or speakers[i - 1] != "assistant") for i, s in enumerate(speakers))
    return mask is not None and 0 < runs(mask) < replies and replies > 1 and _ends_late(mask)


def _ends_late(mask: Mask) -> bool:
    """Whether the loss reaches the last tenth of the row: else only the last turns may have been left out."""
    places = np.flatnonzero(mask)
    return bool(places.size and places[-1] >= 0.9 * (mask.size - 1))
