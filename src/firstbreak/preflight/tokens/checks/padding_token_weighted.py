"""Padding is pulled at by the advantages."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..noise import spill
from ..pieces import PADDING


@check(
    "TOK035",
    "padding-token-weighted",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS_MASK,
    severity=Severity.ERROR,
    fix="Multiply by the mask before summing, and count only masked tokens.",
    explained_by=(
        "loss-mask-shifted",
        "logits-score-wrong-token",
    ),
)
@skips
def look(bench: TokenBench) -> Answer:
    """Padding is pulled at by the advantages.

    Measured: the share of the pull of the advantages that falls on padding.

    Why it hurts: short answers are mostly padding, so most of their signal goes to a token nobody wrote.

    Usual causes: a mean over all columns; a mask made from the wrong side.

    What to try: print tokens beside their weights for one row.

    Harmless: never.
    """
    return spill(bench, PADDING, "padding")
