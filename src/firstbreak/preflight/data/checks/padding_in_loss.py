"""The check `padding-in-loss`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..counting import shown
from ..datafile import DataFile
from ..gate import lacks
from ..tokens import pad_of, padding, supervised

SOME = 0.01
"""Below one row in a hundred it is told as a warning."""


@check(
    "PDT019",
    "padding-in-loss",
    link=Link.ENVIRONMENT_DATA,
    component=Component.LOSS_MASK,
    severity=Severity.ERROR,
    fix="Set labels to -100 (the loss mask to 0) wherever the attention mask is 0.",
)
def look(data: DataFile) -> Answer:
    """Padding tokens are in the loss.

    What is measured:
        Tokens in the loss where the attention mask is 0; without an attention mask, those in a run of the padding
        token at the end of a row, but for its first, which may be the end of the sequence.

    Why it hurts:
        The model learns to write padding; in short rows most of the loss is padding, and its mean looks splendid.

    Usual causes:
        labels = input_ids.clone() before padding is masked; a collator that pads labels with the padding token.

    What to try:
        Set labels[attention_mask == 0] = -100 and compare the loss.

    When it is harmless:
        Never, where an attention mask says that it is padding.

    References:
        Hugging Face Transformers, DataCollatorForSeq2Seq: label_pad_token_id = -100.
    """
    skip = lacks(data, "input_ids") or lacks(data, "labels", "loss_mask", any_of=True)
    if skip is not None:
        return skip
    masked = "attention_mask" in data.roles
    pad = pad_of(data)
    if not masked and pad is None:
        return Skip("nothing tells padding: no attention mask, and rows do not end in a run of one token")
    tokens = padded = 0
    hit: list[int] = []
    rows = supervised(data)
    for sample, mask in rows:
        fill = padding(sample, pad)
        wrong = int((fill & mask).sum())
        padded += int(fill.sum())
        tokens += wrong
        if wrong:
            hit.append(sample.number)
    if not hit:
        return None
    sure = masked or data.pad_id is not None
    return Symptom(
        f"{shown(len(hit), len(rows))} rows have padding in the loss, {tokens} of {padded} padding tokens, "
        f"first row {hit[0]}",
        "labels" if "labels" in data.roles else "loss_mask",
        {"rows_hit": len(hit), "rows": len(rows), "tokens": tokens, "padding_tokens": padded, "first_row": hit[0]},
        severity=None if sure and len(hit) >= SOME * len(rows) else Severity.WARNING,
    )
