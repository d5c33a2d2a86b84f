"""The check `labels-shifted`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..counting import shown
from ..datafile import DataFile
from ..gate import lacks
from ..tokens import IGNORED

AGREE = 0.99
"""Share of equal tokens from which on labels are the tokens, in place or shifted."""


@check(
    "PDT017",
    "labels-shifted",
    link=Link.ENVIRONMENT_DATA,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Let labels equal input_ids in place where they count; the model's loss shifts them itself.",
)
def look(data: DataFile) -> Answer:
    """Labels are not the tokens in the same place.

    What is measured:
        Over all tokens in the loss: the share of labels equal to the token in their place, and to the token after it.

    Why it hurts:
        Causal models shift the labels themselves; labels shifted beforehand train the model to predict the token after
        the next. Labels of other tokens train it on noise.

    Usual causes:
        Shifting in the data set for a loss that also shifts; labels of another row; padding on the other side.

    What to try:
        Print tokens and labels of one row side by side.

    When it is harmless:
        Losses written by hand that do not shift, and encoder-decoder models, whose labels are another text.

    References:
        Hugging Face Transformers, causal LM loss: "labels are shifted inside the model".
    """
    skip = lacks(data, "input_ids", "labels")
    if skip is not None:
        return skip
    same = after = total = later = 0
    rows = data.with_tokens("input_ids", "labels")
    for sample in rows:
        ids, labels = sample.tokens["input_ids"], sample.tokens["labels"]
        counted = labels != IGNORED
        total += int(counted.sum())
        same += int((ids[counted] == labels[counted]).sum())
        later += int(counted[:-1].sum())
        after += int((ids[1:][counted[:-1]] == labels[:-1][counted[:-1]]).sum())
    if total == 0 or not rows:
        return Skip("no label is in the loss")
    if same >= AGREE * total:
        return None
    shifted = later > 0 and after >= AGREE * later
    what = "equal the token after their place" if shifted else "differ from the token in their place"
    count = after if shifted else total - same
    return Symptom(
        f"{shown(count, total)} labels in the loss {what}",
        "labels",
        {"same_frac": same / total, "after_frac": after / max(1, later), "tokens_in_loss": total},
        severity=None if shifted else Severity.WARNING,
    )
