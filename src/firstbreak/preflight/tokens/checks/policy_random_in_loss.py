"""Two forward passes on the same tokens, as the loss makes them, give different log-probs."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ...invariants.restore import seed_all
from ...invariants.torch_types import Tensor, load_torch
from ..bench import TokenBench, skips
from ..noise import gradients_of_two_seeds
from ..truth import logits_of
from ..variants import CLOSE_FRAC
from ..weights import some_rows

RANDOM_NATS = 1e-4
"""Rounding in float32 leaves about 1e-6. Engineering default."""


@check(
    "TOK030",
    "policy-random-in-loss",
    link=Link.DATA_FRESHNESS,
    component=Component.LOSS,
    severity=Severity.WARNING,
    fix="Switch dropout off in the policy for training by reinforcement.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """Two forward passes on the same tokens, as the loss makes them, give different log-probs.

    Measured: the largest difference between the gradients of two losses on one batch, drawn with different
    seeds.

    Why it hurts: the ratio is not 1 where nothing has been learnt, clipping starts at once, and old and new
    log-probs belong to different networks.

    Usual causes: dropout in the model or in an adapter; noisy routers.

    What to try: set every dropout to 0, or call `model.eval()` in the loss.

    Harmless: when the noise is small beside the clip range and known.

    References: Own; reported for TRL (issue 4) and others.
    """
    torch = load_torch()
    batch = bench.once(some_rows)
    found: list[Tensor] = []
    for seed in (bench.seed, bench.seed + 1):
        seed_all(seed)
        with torch.no_grad():
            scores = logits_of(bench.pieces, batch["input_ids"], batch["attention_mask"]).float()
        found.append(scores.log_softmax(-1).gather(-1, batch["input_ids"][..., None])[..., 0])
    seeds = bench.once(gradients_of_two_seeds)
    kept = batch["attention_mask"] > 0
    nats = float((found[0] - found[1]).abs()[kept].max())
    if seeds <= CLOSE_FRAC and nats <= RANDOM_NATS:
        return None
    if seeds <= CLOSE_FRAC:
        return None  # the loss itself switches the noise off
    return Symptom(
        f"the same batch gives a gradient that differs by {seeds:.1%} from one call to the next",
        "model",
        {"gradient_frac": seeds, "largest_logprob_difference_nats": nats},
    )
