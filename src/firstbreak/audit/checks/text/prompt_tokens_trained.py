"""The check `prompt-tokens-trained`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ...judgement.gate import needs
from ...judgement.paid import column
from ...table import Table


@check(
    "AUD051",
    "prompt-tokens-trained",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS_MASK,
    severity=Severity.WARNING,
    fix="Set the mask to 0 up to the first id of the response.",
)
def look(table: Table) -> Answer:
    """Tokens of the prompt are in the loss.

    What is measured:
        Samples whose loss mask lets a token of the prompt in, and the first such row.

    Why it hurts:
        The policy is pushed to write prompts, with advantages that judge answers.

    Usual causes:
        A mask of ones; a start that is off by the template's tokens; left padding counted from the right.

    What to try:
        Print prompt ids beside the mask.

    When it is harmless:
        When the dump calls earlier turns of the policy `prompt`, which may be trained on.

    References:
        None; the check reads off a definition.
    """
    skip = needs(table, "tokens/unmasked_prompt_frac")
    if skip is not None:
        return skip
    values = column(table, "tokens/unmasked_prompt_frac")
    known = np.isfinite(values)
    wrong = known & (values > 0)
    if wrong.sum() < 1:
        return None
    first = table.row_of(int(np.argmax(wrong)))
    return Symptom(
        f"{int(wrong.sum())} of {int(known.sum())} samples have prompt tokens in the loss, first at row {first + 1}",
        "tokens/unmasked_prompt_frac",
        {
            "samples": int(wrong.sum()),
            "known": int(known.sum()),
            "frac": float(wrong.sum() / known.sum()),
            "first_row": first + 1,
        },
    )
