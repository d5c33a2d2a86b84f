"""The check `prompt-tokens-trained`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ...judgement.certain import samples_with
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
    return samples_with(table, "tokens/unmasked_prompt_frac", "samples have prompt tokens in the loss")
