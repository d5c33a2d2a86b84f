"""Tokens that a tool or an environment wrote are pulled at by the advantages."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..noise import spill, told
from ..pieces import TOOL


@check(
    "TOK036",
    "tool-token-weighted",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS_MASK,
    severity=Severity.ERROR,
    fix="Set the loss mask to 0 on everything that a tool or an environment wrote.",
    explained_by=(
        "loss-mask-shifted",
        "logits-score-wrong-token",
    ),
)
@skips
def look(bench: TokenBench) -> Answer:
    """Tokens that a tool or an environment wrote are pulled at by the advantages.

    Measured: the share of the pull of the advantages that falls on tokens the policy did not write.

    Why it hurts: the policy learns to imitate the environment: it invents tool output.

    Usual causes: the mask covers everything after the first prompt; a path of the loss (a fused kernel) that
    does not know the tool mask.

    What to try: print tokens beside their weights for one row with a tool call.

    Harmless: never for policy gradients.
    """
    bench.once(told)
    return spill(bench, TOOL, "tool")
