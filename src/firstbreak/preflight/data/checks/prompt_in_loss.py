"""The check `prompt-in-loss`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..counting import shown
from ..datafile import DataFile
from ..gate import lacks, too_few
from ..rows import Sample
from ..tokens import Mask, supervised

SOME = 0.01
LEAST = 10
"""Rows."""
OPENING = 2
"""Tokens passed over at the start of a row: the begin token and its line break may be in the loss."""


@check(
    "PDT020",
    "prompt-in-loss",
    link=Link.ENVIRONMENT_DATA,
    component=Component.LOSS_MASK,
    severity=Severity.WARNING,
    fix="Set labels to -100 (the loss mask to 0) on the tokens of the prompt.",
)
def look(data: DataFile) -> Answer:
    """Tokens of the prompt are in the loss.

    What is measured:
        Where the length of the prompt is known, tokens in the loss before it. Otherwise, rows whose loss begins with
        the row while other rows mask their beginning. A file in which every row is in the loss from the start may be
        meant so, and is told for information only.

    Why it hurts:
        In RL the policy gradient of tokens it did not choose is wrong; in fine-tuning the model learns to write
        questions, and long prompts outweigh the replies.

    Usual causes:
        labels = input_ids.clone(); the marker before the reply is not found in some rows; the mask made for padding on
        the other side.

    What to try:
        Decode the tokens in the loss of the first row named.

    When it is harmless:
        Training on whole texts on purpose, as in continued pre-training.

    References:
        Shi et al. 2024, arXiv 2405.14394 (loss over instructions); tokens of the prompt are no actions of the policy.
    """
    skip = lacks(data, "input_ids") or lacks(data, "labels", "loss_mask", any_of=True)
    if skip is not None:
        return skip
    rows = [(s, mask) for s, mask in supervised(data) if mask.any() and mask.size > OPENING + 1]
    skip = too_few(len(rows), LEAST, "rows with tokens in the loss")
    if skip is not None:
        return skip
    known = [(s, m) for s, m in rows if s.numbers.get("prompt_length", 0) > OPENING]
    if known:
        return _by_length(known)
    early = [s.number for s, mask in rows if mask[OPENING]]
    if not early or len(early) < SOME * len(rows):
        return None
    mixed = len(early) <= (1 - SOME) * len(rows)
    return Symptom(
        f"{shown(len(early), len(rows))} rows are in the loss from their start, first row {early[0]}",
        "labels" if "labels" in data.roles else "loss_mask",
        {"from_start": len(early), "rows": len(rows), "first_row": early[0]},
        severity=None if mixed else Severity.INFO,
    )


def _by_length(known: list[tuple[Sample, Mask]]) -> Answer:
    hit: list[int] = []
    tokens = 0
    for sample, mask in known:
        wrong = int(mask[OPENING : int(sample.numbers["prompt_length"])].sum())
        tokens += wrong
        if wrong:
            hit.append(sample.number)
    if not hit:
        return None
    return Symptom(
        f"{shown(len(hit), len(known))} rows have prompt tokens in the loss, {tokens} tokens, first row {hit[0]}",
        "labels",
        {"rows_hit": len(hit), "rows": len(known), "tokens": tokens, "first_row": hit[0]},
        severity=None if len(hit) >= SOME * len(known) else Severity.INFO,
    )
