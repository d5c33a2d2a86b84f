"""The old log-probs of the batch carry a gradient."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import TokenBench, skips
from ..truth import fresh


@check(
    "TOK044",
    "old-logprobs-carry-gradient",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Compute the old log-probs under torch.no_grad().",
)
@skips
def look(bench: TokenBench) -> Answer:
    """The old log-probs of the batch carry a gradient.

    Measured: whether `old_logprobs` of a fresh batch still hangs on a graph.

    Why it hurts: the ratio or the KL is differentiated on both sides, so that its gradient is wrong or 0, and
    memory grows.

    Usual causes: stored without `no_grad` or `detach`.

    What to try: `assert not old.requires_grad`.

    Harmless: never.
    """
    batch = bench.once(fresh)
    if "old_logprobs" not in batch:
        return Skip("the batch has no old log-probs", ("batch['old_logprobs']",))
    if not batch["old_logprobs"].requires_grad:
        return None
    tokens = int((batch["loss_mask"] > 0).sum())
    return Symptom(f"the old log-probs of {tokens} trained tokens hang on a graph", "old_logprobs", {"tokens": tokens})
