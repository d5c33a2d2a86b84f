"""The trainer's own log-probs are not log_softmax of the logits, shifted by one, at the stated temperature."""

from __future__ import annotations

from typing import Any, cast

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...invariants.torch_types import load_torch
from ..bench import TokenBench, skips
from ..noise import gradients_of_two_seeds
from ..pieces import SAMPLED
from ..truth import roles_of
from ..variants import CLOSE_FRAC
from ..weights import own_truth, some_rows

NATS = 1e-3
"""As for the ratio. Engineering default."""


@check(
    "TOK043",
    "logprob-not-log-softmax",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Take log_softmax of the logits of the column before, at the stated temperature, and gather the token.",
    explained_by=(
        "logits-score-wrong-token",
        "temperature-differs-in-loss",
        "padding-changes-loss",
    ),
)
@skips
def look(bench: TokenBench) -> Answer:
    """The trainer's own log-probs are not log_softmax of the logits, shifted by one, at the stated temperature.

    Measured: the largest difference between `logprobs(batch)` and log_softmax(logits / T) of the same model,
    one unpadded row at a time.

    Why it hurts: ratio, KL and gradients are all built on it.

    Usual causes: the same as for an off-by-one or a temperature fault, in a function of its own; logits cut to
    half precision.

    What to try: compare both for one short row by hand.

    Harmless: when the function is meant to give something else, such as log-probs after top-k filtering.
    """
    bench.need("logprobs")
    batch = bench.once(some_rows)
    torch = load_torch()
    with torch.no_grad():
        own = cast(Any, bench.pieces.logprobs)(batch).detach().float()
    true = bench.once(own_truth).logprobs
    mask = roles_of(batch) == SAMPLED
    if bench.once(gradients_of_two_seeds) > CLOSE_FRAC:
        return Skip("the policy is random in the loss")
    gap = (own - true).abs()[mask]
    largest = float(gap.max())
    if largest <= NATS:
        return None
    return Symptom(
        f"log-probs differ by up to {largest:.3g} nats (mean {float(gap.mean()):.2g}) from log_softmax of the logits",
        "logprobs",
        {"largest_nats": largest, "mean_nats": float(gap.mean())},
    )
