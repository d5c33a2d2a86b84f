"""A limit on the gradient norm that is set is used."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..optimising import rounds


@check(
    "INV012",
    "gradient-clip-unused",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    fix="Call clip_grad_norm_ between backward and step.",
)
@skips
def look(bench: Bench) -> Answer:
    """A limit on the gradient norm that is set is used.

    Measured: calls of torch.nn.utils.clip_grad_norm_ in the trainer's own first rounds.

    Why it hurts: one outlier in reward or ratio makes one huge step, and the setting makes everybody look
    elsewhere.

    Usual causes: the call was lost, or clips another network.

    What to try: call clip_grad_norm_ between backward and step.

    Harmless: where clipping is done by other means (clip_grad_value_, an optimiser wrapper, a hook).
    """
    meant = bench.pieces.settings.get("max_grad_norm")
    if not meant:
        return Skip("no limit of the gradient norm is set")
    found = bench.once(rounds)
    if found.clips or found.value_clips or not found.steps:
        return None
    return Symptom(
        f"max_grad_norm is {float(meant):.3g} and {found.steps} steps were taken without clipping",
        "update",
        {"max_norm": float(meant), "steps_n": found.steps},
    )
