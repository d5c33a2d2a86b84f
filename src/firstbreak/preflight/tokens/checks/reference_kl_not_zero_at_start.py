"""Before the first step the reference log-probs are not those of the policy: the KL is not 0."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import TokenBench, skips
from ..noise import reference_gap

NATS = 1e-3
"""As for the ratio. Engineering default."""


@check(
    "TOK051",
    "reference-kl-not-zero-at-start",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Start the reference from the same weights, mode and temperature as the policy.",
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
    """Before the first step the reference log-probs are not those of the policy: the KL is not 0.

    Measured: the largest difference between reference and policy log-probs over the trained tokens of a fresh
    batch.

    Why it hurts: the KL pulls towards another model than the one training starts from.

    Usual causes: another checkpoint; an adapter left on; dropout or another temperature in one of them.

    What to try: log the KL at step 0.

    Harmless: when the reference is another model on purpose, or training was resumed.
    """
    if bench.pieces.settings.get("reference_is_start") is False:
        return Skip("the reference is not meant to be the start of the policy")
    found = bench.once(reference_gap)
    if found <= NATS:
        return None
    return Symptom(
        f"reference and policy log-probs differ by up to {found:.3g} nats before any step",
        "ref_logprobs",
        {"largest_nats": found},
    )
