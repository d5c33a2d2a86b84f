"""One group's rewards change another group's advantages."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ...invariants.torch_types import Tensor
from ..bench import TokenBench, skips
from ..grouping import grouped

LEAK_FRAC = 1e-3
"""Rounding leaves about 1e-6. Engineering default."""


@check(
    "TOK091",
    "groups-leak-advantage",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Take mean and standard deviation over the rows of one prompt only.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """One group's rewards change another group's advantages.

    Measured: the advantages of two groups when the rewards of the third are shifted, and when they are
    multiplied.

    Why it hurts: an answer is judged by how hard the other prompts of its batch were.

    Usual causes: mean or standard deviation over the batch; a reshape with the wrong group size.

    What to try: change the rewards of one prompt: no other advantage may move.

    Harmless: with a standard deviation of the batch on purpose: the settings then say `batch`.

    References: Liu et al. 2025, arXiv 2503.20783; Hu et al. 2025, arXiv 2501.03262 (batch normalisation).
    """
    found = bench.once(grouped)
    kept = found.first
    size = float(found.advantages[kept].norm().clamp(min=1e-30))
    shift = float((found.other_shifted - found.advantages)[kept].norm()) / size
    scale = float((found.other_scaled - found.advantages)[kept].norm()) / size
    by_batch = bench.pieces.settings.get("advantage_scale") == "batch"
    if by_batch:
        shift = scale = min(_up_to_a_factor(found.other_shifted[kept], found.advantages[kept]), shift)
    worst = max(shift, scale)
    if worst <= LEAK_FRAC:
        return None
    how = "shifting" if shift > LEAK_FRAC else "scaling"
    return Symptom(
        f"{how} one group's rewards changes the advantages of the others by {worst:.0%}",
        "advantages",
        {"change_by_shift_frac": shift, "change_by_scale_frac": scale},
    )


def _up_to_a_factor(one: Tensor, other: Tensor) -> float:
    factor = float((one * other).sum() / other.square().sum().clamp(min=1e-30))
    return float((one - factor * other).norm() / one.norm().clamp(min=1e-30))
