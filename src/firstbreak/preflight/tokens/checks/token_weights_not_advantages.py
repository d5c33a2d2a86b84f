"""Rows are not weighted in proportion to their advantages."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import TokenBench, skips
from ..noise import row_means
from ..terms import shifted
from ..weights import dead, live_weights, trained

SPREAD = 0.02
"""Rounding leaves about 1e-5; a soft term in the advantage more. Engineering default."""


@check(
    "TOK063",
    "token-weights-not-advantages",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.WARNING,
    fix="Multiply each row by its advantage once, and normalise advantages in one place only.",
    explained_by=(
        "rows-share-one-advantage",
        "logits-score-wrong-token",
        "padding-token-weighted",
        "prompt-token-weighted",
        "tool-token-weighted",
        "loss-mask-shifted",
    ),
)
@skips
def look(bench: TokenBench) -> Answer:
    """Rows are not weighted in proportion to their advantages.

    Measured: the weight of each row over its advantage, for advantages of mean 0.5 that are all positive: it
    should be one number, up to the length.

    Why it hurts: rewarded rows lose what others gain; the sign of small advantages is wrong.

    Usual causes: a second normalisation inside the loss; clipping of advantages; the rows of another batch.

    What to try: pass advantages that are all 1: all tokens must rise.

    Harmless: when the loss normalises over the minibatch on purpose.
    """
    if bench.pieces.settings.get("normalises_in_loss"):
        return Skip("the loss normalises advantages on purpose")
    bench.once(live_weights)
    found = bench.once(shifted)
    if dead(found):
        return Skip("advantages of one sign pull at no token", withholds=True)
    factor, length = -row_means(found) / found.advantage, (trained(found) & found.touched).sum(dim=1).clamp(min=1)
    spreads = [float(f.std() / f.mean().abs().clamp(min=1e-30)) for f in (factor, factor * length)]
    spread = min(spreads)
    against = int((factor < 0).sum())
    if spread <= SPREAD and not against:
        return None
    if against == len(factor):
        return None  # a flipped sign is told elsewhere
    return Symptom(
        f"weights over advantages differ by {spread:.0%} by row; {against} of {len(factor)} rows go the wrong way",
        "loss",
        {"spread_frac": spread, "wrong_way_rows": against},
    )
