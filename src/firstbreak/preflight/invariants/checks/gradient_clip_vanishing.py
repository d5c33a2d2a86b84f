"""Gradient clipping uses the limit that is set and leaves a gradient to speak of."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Number, Severity, Skip
from ..bench import Bench, skips
from ..optimising import rounds

KEPT_FRAC = 1e-4
"""A limit ten thousand times below the usual norm serves no purpose: gradients vary by 100 in a run (RL notes R01)."""


@check(
    "INV011",
    "gradient-clip-vanishing",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    fix="Pass the configured max_grad_norm to clip_grad_norm_, and keep it near the usual norm.",
)
@skips
def look(bench: Bench) -> Answer:
    """Gradient clipping uses the limit that is set and leaves a gradient to speak of.

    Measured: the limit given to clip_grad_norm_ and the norms before, in the trainer's own first rounds.

    Why it hurts: an optimiser with an epsilon of 1e-5 takes steps that shrink with the gradient once it is that
    small: nothing moves.

    Usual causes: a limit mistyped or in other units, the limit of a summed loss used for a mean, a constant left in
    the code.

    What to try: log the norm before clipping; set the limit near its median.

    Harmless: with a scale-free optimiser whose epsilon is far below the clipped gradient; then steps are as large
    as ever.
    """
    found = bench.once(rounds)
    if not found.clips:
        return Skip("the trainer does not call clip_grad_norm_")
    limits = [limit for limit, _ in found.clips]
    norms = sorted(norm for _, norm in found.clips)
    smallest, typical = min(limits), norms[len(norms) // 2]
    meant = bench.pieces.settings.get("max_grad_norm")
    evidence: dict[str, Number] = {"max_norm": smallest, "median_norm": typical}
    if meant and smallest > float(meant) and found.value_clips:
        return Skip("gradients are clipped value by value, and the norm is only measured")
    if meant and abs(smallest - float(meant)) > 1e-6 * float(meant):
        return Symptom(
            f"gradients are clipped to a norm of {smallest:.3g}, the setting is {float(meant):.3g}", "update", evidence
        )
    if typical > 0 and smallest < KEPT_FRAC * typical:
        return Symptom(
            f"clipping to {smallest:.3g} leaves {smallest / typical:.1e} of a typical gradient norm", "update", evidence
        )
    return None
