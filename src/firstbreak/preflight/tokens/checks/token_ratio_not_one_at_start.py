"""Before the first step the stored log-probs are not those that the loss computes: the ratio is not 1."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..noise import ratio_at_start

NATS = 1e-3
"""Rounding in float32 leaves about 1e-5; |ratio - 1| <= 1e-3 is the usual bound. Engineering default."""
ENGINE_NATS = 0.02
"""What separate engines differ by in healthy runs of TRL: mean 0.01 to 0.02 nats (trl issue 5312)."""


@check(
    "TOK042",
    "token-ratio-not-one-at-start",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    fix="Compute old log-probs with the same network mode, temperature, precision and tokens as the loss.",
    explained_by=(
        "policy-random-in-loss",
        "temperature-differs-in-loss",
        "logits-score-wrong-token",
        "sampled-ids-replaced",
        "padding-changes-loss",
    ),
)
@skips
def look(bench: TokenBench) -> Answer:
    """Before the first step the stored log-probs are not those that the loss computes: the ratio is not 1.

    Measured: the largest difference between stored and newly computed log-probs over the trained tokens of a
    fresh batch.

    Why it hurts: clipping and importance weights act on noise; updates are biased from the first minibatch on.

    Usual causes: dropout; another temperature; another precision or kernel in the engine; ids that were
    tokenised again; rows shuffled apart.

    What to try: set the learning rate to 0 and watch the ratio: it must stay 1.

    Harmless: in asynchronous training, where the stored log-probs are of an older version on purpose, and when
    an engine of its own draws the tokens (expect about 0.01 nats).

    References: failure of this invariant also catches stale buffers; see Engstrom et al. 2020, arXiv
    2005.12729.
    """
    found = bench.once(ratio_at_start)
    if found.largest_nats <= NATS:
        return None
    why = ""
    if found.temperature is not None:
        why = f"; they fit temperature {found.temperature:g}"
    severity = Severity.WARNING if found.mean_nats < ENGINE_NATS else Severity.ERROR
    return Symptom(
        f"stored log-probs are {found.largest_nats:.3g} nats off (mean {found.mean_nats:.2g}) before any step{why}",
        found.column,
        {"largest_nats": found.largest_nats, "mean_nats": found.mean_nats, "tokens": found.tokens},
        severity=severity,
    )
