"""No gradient flows through the TD target."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..td_rows import through_target

LEAK_FRAC = 0.01
"""Rounding leaves 1e-4 at most."""


@check(
    "INV086",
    "td-target-carries-gradient",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Compute the target under no_grad, with the target network.",
    explained_by=("td-loss-scores-other-action",),
)
@skips
def look(bench: Bench) -> Answer:
    """No gradient flows through the TD target.

    Measured: the share of the critic's gradient that no weighting of grad Q(s, a) explains, more than with all rows
    terminated.

    Why it hurts: the next state's value is pulled towards the present one as well: another, slower and biased
    algorithm.

    Usual causes: the target computed outside no_grad with the online network.

    What to try: compute the target under torch.no_grad().

    Harmless: for residual-gradient methods on purpose.

    References: Baird 1995, Residual algorithms.
    """
    share = bench.once(through_target)
    if share <= LEAK_FRAC:
        return None
    return Symptom(
        f"{share:.0%} of the critic's gradient comes through the TD target", "td_target", {"leak_frac": share}
    )
