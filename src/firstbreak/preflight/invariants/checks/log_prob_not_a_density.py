"""exp(log_prob) is a density of the actions that are drawn: it integrates to 1."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..density import FEW_DIMENSIONS, density

SIGMAS = 6.0
"""Six standard errors: one false alarm in 10^8 looks."""
ROOM_FRAC = 0.04
"""The quantiles that bound the box are estimates; 10,000 draws know their distance to about 1 % in each dimension."""
MANY_ROOM = 2.0
"""Factor that counts beyond six dimensions, where a mean over dimensions in place of the sum is off by 100 and more."""


@check(
    "INV021",
    "log-prob-not-a-density",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Sum over action dimensions and include the Jacobian of squashing and scaling.",
)
@skips
def look(bench: Bench) -> Answer:
    """exp(log_prob) is a density of the actions that are drawn: it integrates to 1.

    Measured: 20,000 draws at one observation: the mean of 1[a in S] / p(a) over a box S of 80 % of each dimension,
    over its volume. With more than six dimensions only a factor of two counts.

    Why it hurts: ratios, entropy and temperature are all wrong; dimensions that are left out are never learnt.

    Usual causes: the tanh correction or the stretch to the bounds missing, a mean over dimensions, only the first
    dimension, wrong scale.

    What to try: subtract log(1 - tanh(u)^2) and log(half range), and sum over dimensions; compare with
    torch.distributions.

    Harmless: when log-probs leave out a constant on purpose (the stretch to fixed bounds); the entropy target must
    then do so too.

    References: Haarnoja et al. 2018, arXiv 1812.05905, appendix C.
    """
    found = bench.once(density)
    room = max(SIGMAS * found.error, 1e-4 if found.counted else ROOM_FRAC)
    many = not found.counted and found.dimensions > FEW_DIMENSIONS
    if abs(found.ratio - 1.0) <= room or (many and 1 / MANY_ROOM <= found.ratio <= MANY_ROOM):
        return None
    what = "probabilities of all actions sum to" if found.counted else "the log-probs of its own draws integrate to"
    return Symptom(
        f"{what} {found.ratio:.3g} instead of 1 ({found.dimensions} action dimensions)",
        "log_prob",
        {"integral": found.ratio, "standard_error": found.error, "dimensions_n": found.dimensions},
    )
