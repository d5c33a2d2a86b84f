"""The gradient depends on how the batch is split for accumulation."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import TokenBench, skips
from ..noise import gradients_of_two_seeds
from ..variants import CLOSE_FRAC, split_effect


@check(
    "TOK081",
    "split-changes-gradient",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Divide by a number of the whole step (tokens, rows or a constant), not of the micro-batch.",
    explained_by=("token-weights-not-advantages",),
)
@skips
def look(bench: TokenBench) -> Answer:
    """The gradient depends on how the batch is split for accumulation.

    Measured: the gradient of one batch against that accumulated over two micro-batches of equal size, short and
    long rows apart.

    Why it hurts: the effective objective changes with memory settings and with the number of devices.

    Usual causes: each micro-batch takes its own token mean; losses are summed without dividing by their number;
    advantages normalised in each part.

    What to try: the same batch in 1 and in 4 parts must give the same gradient.

    Harmless: with a token mean of each micro-batch, where that is documented: the settings then say local-
    token.
    """
    if bench.pieces.settings.get("normalisation") == "local-token":
        return Skip("the normalisation is stated to be that of each micro-batch")
    change = bench.once(split_effect)
    if change <= CLOSE_FRAC or bench.once(gradients_of_two_seeds) > CLOSE_FRAC:
        return None
    return Symptom(
        f"the same rows in two micro-batches give a gradient that differs by {change:.1%}",
        "split_loss",
        {"change_frac": change},
    )
