"""Tokens that the policy sampled are not trained."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..noise import told
from ..weights import live_weights, some_rows, trained


@check(
    "TOK038",
    "sampled-token-untrained",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS_MASK,
    severity=Severity.WARNING,
    fix="Let the loss mask cover every token that the policy sampled.",
    explained_by=(
        "loss-mask-shifted",
        "logits-score-wrong-token",
    ),
)
@skips
def look(bench: TokenBench) -> Answer:
    """Tokens that the policy sampled are not trained.

    Measured: sampled tokens that the advantages do not pull at, end tokens apart.

    Why it hurts: part of what was decided gets no credit; the first token often decides most.

    Usual causes: a slice one token too far; a filter (entropy, ratio) that nobody meant to switch on.

    What to try: print tokens beside their weights for one row.

    Harmless: when tokens are left out on purpose: truncated answers, high-entropy tokens only (Wang et al.
    2025, arXiv 2506.01939).
    """
    found = bench.once(live_weights)
    bench.once(told)
    batch = bench.once(some_rows)
    true = trained(found) & (batch["input_ids"] != int(bench.pieces.settings.get("end_token_id", -1)))
    live = (true & found.touched).any(dim=1, keepdim=True)
    left_out, total = int((true & ~found.touched & live).sum()), int((true & live).sum())
    if not left_out or bench.pieces.settings.get("truncated_masked"):
        return None
    return Symptom(
        f"{left_out} of {total} sampled tokens are not trained",
        "loss",
        {"untrained_tokens": left_out, "sampled_tokens": total},
    )
