"""The loss mask is one column off: it begins or ends one token away from the completion."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ...invariants.torch_types import load_torch
from ..bench import TokenBench, skips
from ..weights import live_weights, trained


@check(
    "TOK033",
    "loss-mask-shifted",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS_MASK,
    severity=Severity.ERROR,
    fix="Shift the mask with the labels: the mask of column t + 1 belongs to the logits of column t.",
    explained_by=("logits-score-wrong-token",),
)
@skips
def look(bench: TokenBench) -> Answer:
    """The loss mask is one column off: it begins or ends one token away from the completion.

    Measured: which tokens the advantages pull at, against those the policy wrote, shifted by one column.

    Why it hurts: the last prompt token or a padding token is trained, and the first token or the end token is
    not.

    Usual causes: slicing `mask[:, :-1]` where `mask[:, 1:]` is meant, or the reverse.

    What to try: print tokens beside their weights for one row.

    Harmless: never.
    """
    found = bench.once(live_weights)
    torch = load_torch()
    true, touched = trained(found)[:, 1:], found.touched[:, 1:]  # the first column is scored by none
    if bool((touched == true).all()):
        return None
    for by, side in ((-1, "early"), (1, "late")):
        moved = torch.roll(trained(found), by, dims=1)[:, 1:]
        if int((touched ^ moved).sum()) * 4 <= int((touched ^ true).sum()):
            wrong = int((touched & ~true).sum())
            return Symptom(
                f"the loss mask is one column {side}: {wrong} tokens are trained that the policy did not write",
                "loss",
                {"wrongly_trained_tokens": wrong, "left_out_tokens": int((true & ~touched).sum())},
            )
    return None
