"""The check `token-lengths-disagree`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..counting import shown
from ..datafile import DataFile
from ..gate import lacks

BESIDE = ("labels", "attention_mask", "loss_mask", "tool_mask")


@check(
    "PDT016",
    "token-lengths-disagree",
    link=Link.ENVIRONMENT_DATA,
    component=Component.LOSS_MASK,
    severity=Severity.ERROR,
    fix="Build tokens, labels and masks in one place, from the same list.",
)
def look(data: DataFile) -> Answer:
    """Tokens, labels and masks of a row have different lengths.

    What is measured:
        The lengths of input_ids, labels and masks in each row. A mask that always has the same smaller length than
        its tokens (one that covers the reply only) is compared with what is left of the prompt, where that is known.

    Why it hurts:
        A collator pads them to one length, each on its own: the mask then lies beside the tokens it was made for.

    Usual causes:
        The end token added to the tokens and not to the mask; one of them cut; a mask of the reply only.

    What to try:
        Print the lengths in the first row named.

    When it is harmless:
        Formats in which the mask covers the reply alone and the loader knows it.

    References:
        Engineering default: exact.
    """
    skip = lacks(data, "input_ids") or lacks(data, *BESIDE, any_of=True)
    if skip is not None:
        return skip
    rows = [s for s in data.samples if "input_ids" in s.tokens]
    if not rows:
        return Skip("no row holds readable tokens")
    for role in BESIDE:
        apart = [s for s in rows if role in s.tokens and s.tokens[role].size != s.tokens["input_ids"].size]
        shorter = all(
            s.tokens[role].size + s.numbers.get("prompt_length", -1) == s.tokens["input_ids"].size for s in apart
        )
        if apart and not shorter:
            one = apart[0]
            return Symptom(
                f"{shown(len(apart), len(rows))} rows have {role} of another length: row {one.number} has "
                f"{one.tokens[role].size} for {one.tokens['input_ids'].size} tokens",
                role,
                {"disagree": len(apart), "rows": len(rows), "first_row": one.number},
            )
    return None
