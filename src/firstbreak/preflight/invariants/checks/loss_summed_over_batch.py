"""The loss is a mean over the batch."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..batch_laws import laws
from ..bench import Bench, CannotLookError, skips
from ..optimising import rounds
from ..owned import plain


@check(
    "INV063",
    "loss-summed-over-batch",
    link=Link.NUMERICS,
    component=Component.LOSS,
    severity=Severity.INFO,
    fix="Use the mean over rows, or keep the batch size fixed.",
)
@skips
def look(bench: Bench) -> Answer:
    """The loss is a mean over the batch.

    Measured: the scale by which the gradient grows when every row is there twice. A warning where, because of it, the
    clipping of gradients binds in most of the first updates: their steps then have one length.

    Why it hurts: a sum ties the step to the batch size: clipping and learning rate must be tuned again with every
    change of it.

    Usual causes: sum() in place of mean(), or an expected value over actions summed over rows.

    What to try: use mean().

    Harmless: when the learning rate was chosen for it.
    """
    found = bench.once(laws)
    if found.twice < 1.5:
        return None
    bound = _binding(bench)
    return Symptom(
        f"every row twice makes the gradient {found.twice:.2f} times as large: the loss is a sum"
        + (f"; its norm is mostly clipped, to {bound:g}" if bound else ", not a mean"),
        "update",
        {"scale": found.twice, **({"clipped_to": bound} if bound else {})},
        severity=Severity.WARNING if bound else None,
    )


def _binding(bench: Bench) -> float:
    """The norm to which most first updates are clipped, though the gradient of a mean would stay below it; else 0."""
    with suppress(CannotLookError):
        bench.need("minibatch")
        clips = bench.once(rounds).clips
        rows = len(plain(cast(Any, bench.pieces.minibatch)())["obs"])
        bound = [bound for bound, norm in clips if norm > bound > norm / rows]
        if 2 * len(bound) > len(clips):
            return bound[0]
    return 0.0
