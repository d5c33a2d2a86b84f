"""The reference log-probs of the batch carry a gradient."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import TokenBench, skips
from ..truth import fresh


@check(
    "TOK045",
    "reference-logprobs-carry-gradient",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Compute the reference log-probs under torch.no_grad().",
)
@skips
def look(bench: TokenBench) -> Answer:
    """The reference log-probs of the batch carry a gradient.

    Measured: whether `ref_logprobs` of a fresh batch still hangs on a graph.

    Why it hurts: the ratio or the KL is differentiated on both sides, so that its gradient is wrong or 0, and
    memory grows.

    Usual causes: computed without `no_grad`; a reference that shares layers with the policy.

    What to try: `assert not old.requires_grad`.

    Harmless: never.
    """
    batch = bench.once(fresh)
    if "ref_logprobs" not in batch:
        return Skip("the batch has no reference log-probs", ("batch['ref_logprobs']",))
    if not batch["ref_logprobs"].requires_grad:
        return None
    tokens = int((batch["loss_mask"] > 0).sum())
    return Symptom(
        f"the reference log-probs of {tokens} trained tokens hang on a graph", "ref_logprobs", {"tokens": tokens}
    )
