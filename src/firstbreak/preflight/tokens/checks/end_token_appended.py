"""A completion that was cut off gets an end token that was never sampled."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import TokenBench, skips
from ..truth import fresh


@check(
    "TOK011",
    "end-token-appended",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    fix="Leave a completion that was cut off without an end token, and score or mask it as truncated.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """A completion that was cut off gets an end token that was never sampled.

    Measured: trained end tokens in columns where `sampled_ids` has another token or none.

    Why it hurts: the policy is told that stopping there was its own choice, and a truncated answer is scored as
    a finished one.

    Usual causes: the end token is appended after generation whatever the stop reason; the last token is
    overwritten at the length limit.

    What to try: look at the stop reason of each completion.

    Harmless: when the appended token is outside the loss mask.
    """
    batch = bench.once(fresh)
    if "sampled_ids" not in batch:
        return Skip("the batch does not say which ids were sampled", ("batch['sampled_ids']",))
    end = int(bench.setting("end_token_id"))
    added = (batch["input_ids"] == end) & (batch["sampled_ids"] != end) & (batch["loss_mask"] > 0)
    rows = int(added.any(dim=1).sum())
    if not rows:
        return None
    total = len(added)
    return Symptom(
        f"{rows} of {total} completions end in an end token that was not sampled",
        "batch",
        {"rows": rows, "batch_rows": total},
    )
