"""The check `loss-covers-nothing`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..counting import shown
from ..datafile import DataFile
from ..gate import lacks, too_few
from ..tokens import supervised

SOME = 0.01
"""Below one row in a hundred it is told for information only."""
MOST = 0.5


@check(
    "PDT018",
    "loss-covers-nothing",
    link=Link.ENVIRONMENT_DATA,
    component=Component.LOSS_MASK,
    severity=Severity.WARNING,
    fix="Drop rows without a token in the loss; find why the reply was not recognised or was cut off.",
)
def look(data: DataFile) -> Answer:
    """Rows have no token in the loss.

    What is measured:
        Rows whose labels are all -100 or whose loss mask is all 0.

    Why it hurts:
        They cost time and teach nothing; a micro-batch of such rows alone divides by zero and gives NaN.

    Usual causes:
        The marker before the reply is not found (another template, other tokens of the same text); the prompt fills
        the whole length, so that the reply was cut off.

    What to try:
        Decode the first row named and look for the marker.

    When it is harmless:
        A handful of overlong rows in a batch that is averaged over all its tokens.

    References:
        PyTorch, CrossEntropyLoss: the mean over no target is NaN.
    """
    skip = lacks(data, "input_ids") or lacks(data, "labels", "loss_mask", any_of=True)
    if skip is not None:
        return skip
    rows = supervised(data)
    skip = too_few(len(rows), 1, "rows with labels or a loss mask beside their tokens")
    if skip is not None:
        return skip
    silent = [s.number for s, mask in rows if not mask.any()]
    if not silent:
        return None
    share = len(silent) / len(rows)
    return Symptom(
        f"{shown(len(silent), len(rows))} rows have no token in the loss, first row {silent[0]}",
        "labels" if "labels" in data.roles else "loss_mask",
        {"silent": len(silent), "rows": len(rows), "first_row": silent[0]},
        severity=Severity.ERROR if share >= MOST else Severity.INFO if share < SOME else None,
    )
