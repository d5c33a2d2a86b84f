"""The ids that are trained are not the ids that were sampled."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import TokenBench, skips
from ..pieces import SAMPLED
from ..truth import fresh, roles_of


@check(
    "TOK010",
    "sampled-ids-replaced",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    fix="Train on the ids that the sampler drew; never decode and encode them again.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """The ids that are trained are not the ids that were sampled.

    Measured: trained tokens that differ from `sampled_ids` of the same batch.

    Why it hurts: log-probs, masks and rewards belong to tokens that are no longer there; the ratio is not 1.

    Usual causes: text sent through the tokenizer again (decode, then encode); a chat template laid over
    finished turns.

    What to try: carry token ids from the engine to the loss.

    Harmless: never, once the loss uses stored log-probs.
    """
    batch = bench.once(fresh)
    if "sampled_ids" not in batch:
        return Skip("the batch does not say which ids were sampled", ("batch['sampled_ids']",))
    mask = batch["loss_mask"] > 0
    drawn = batch["sampled_ids"] != 0 if "roles" not in batch else roles_of(batch) == SAMPLED
    other = (batch["input_ids"] != batch["sampled_ids"]) & mask & drawn
    end = bench.pieces.settings.get("end_token_id")
    last = (batch["input_ids"] == end) if end is not None else other & False
    count, total = int((other & ~last).sum()), int(mask.sum())
    if not count:
        return None
    return Symptom(
        f"{count} of {total} trained tokens are not the ids that were sampled",
        "batch",
        {"replaced_tokens": count, "trained_tokens": total},
    )
