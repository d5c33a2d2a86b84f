"""The kernel's bandwidth fits the distances between actions."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..kernel_terms import terms
from ..torch_types import load_torch

LOW, HIGH = 0.05, 0.95
"""Outside these nearly all pairs look alike to the kernel (RL notes R83)."""


@check(
    "INV105",
    "mmd-bandwidth-mismatch",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    fix="Set the bandwidth to the median distance between actions.",
)
@skips
def look(bench: Bench) -> Answer:
    """The kernel's bandwidth fits the distances between actions.

    Measured: the mean of k(a, a') over pairs of drawn actions.

    Why it hurts: with all kernel values near 0 or near 1 the MMD vanishes whatever the policies do.

    Usual causes: a bandwidth in other units than the actions, a constant kept after rescaling.

    What to try: use the median distance between actions.

    Harmless: never for a term that is to have an effect.

    References: Gretton et al. 2012, section 8.
    """
    torch = load_torch()

    found = bench.once(terms)
    width = found.state.get("bandwidth")
    if width is None:
        return Skip("there is no bandwidth: actions are discrete, or it is not shown")
    from ..density import draws

    _, action, _ = bench.once(draws)
    distance = torch.pdist(action[:256].reshape(256, -1).double())
    kernel = float((-(distance**2) / (2 * float(width) ** 2)).exp().mean())
    if LOW < kernel < HIGH:
        return None
    ratio = float(width) / max(float(distance.median()), 1e-30)
    return Symptom(
        f"the mean kernel value is {kernel:.2f}: the bandwidth is {ratio:.2g} times the median action distance",
        "bandwidth",
        {"kernel_mean": kernel, "bandwidth": float(width), "ratio": ratio},
    )
