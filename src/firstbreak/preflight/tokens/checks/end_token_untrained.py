"""The end token of completions is not trained."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import TokenBench, skips
from ..weights import live_weights, some_rows, trained


@check(
    "TOK037",
    "end-token-untrained",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS_MASK,
    severity=Severity.ERROR,
    fix="Keep the first end token of a completion in the loss mask, also where it is the padding token.",
    explained_by=(
        "loss-mask-shifted",
        "logits-score-wrong-token",
    ),
)
@skips
def look(bench: TokenBench) -> Answer:
    """The end token of completions is not trained.

    Measured: sampled end tokens that the advantages do not pull at, while they pull at other tokens of the row.

    Why it hurts: the policy never learns when to stop: lengths run to the limit.

    Usual causes: a mask made as input_ids != pad where padding and end share an id; the last column cut off.

    What to try: print tokens beside their weights for one row that ends.

    Harmless: when stopping is decided by something else than the end token.
    """
    found = bench.once(live_weights)
    batch = bench.once(some_rows)
    end = int(bench.setting("end_token_id"))
    ends = trained(found) & (batch["input_ids"] == end)
    if not int(ends.sum()):
        return Skip("no completion of the batch ends in the end token", ("a batch with finished completions",))
    before = (trained(found) & ~ends & found.touched).any(dim=1, keepdim=True)
    left_out, total = int((ends & ~found.touched & before).sum()), int((ends & before).sum())
    if not left_out:
        return None
    return Symptom(
        f"{left_out} of {total} sampled end tokens are not trained, though tokens before them are",
        "loss",
        {"untrained_end_tokens": left_out, "end_tokens": total},
    )
