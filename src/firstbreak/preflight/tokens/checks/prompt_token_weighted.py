"""Prompt tokens are pulled at by the advantages."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..noise import spill
from ..pieces import PROMPT


@check(
    "TOK034",
    "prompt-token-weighted",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS_MASK,
    severity=Severity.ERROR,
    fix="Leave prompt tokens out of the loss mask.",
    explained_by=(
        "loss-mask-shifted",
        "logits-score-wrong-token",
    ),
)
@skips
def look(bench: TokenBench) -> Answer:
    """Prompt tokens are pulled at by the advantages.

    Measured: the share of the pull of the advantages that falls on tokens of the prompt.

    Why it hurts: good answers make their question more likely and bad ones less: the policy drifts on text it
    never chose.

    Usual causes: the attention mask used as loss mask; a prompt length taken before a template was added.

    What to try: print tokens beside their weights for one row.

    Harmless: in supervised training on whole texts.
    """
    return spill(bench, PROMPT, "prompt")
