"""The target takes the smaller of the twin critics."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..td_rows import GOING_ON, targets


@check(
    "INV084",
    "td-target-twin-minimum-missing",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Take the elementwise minimum of the target critics.",
)
@skips
def look(bench: Bench) -> Answer:
    """The target takes the smaller of the twin critics.

    Measured: the bootstrap read off the gradient against the smaller, larger, mean and single values that the twins
    are made to return.

    Why it hurts: the minimum is what holds overestimation back; the maximum doubles it.

    Usual causes: max in place of min, the minimum taken along the batch, one twin used for both.

    What to try: torch.min(q1, q2) elementwise.

    Harmless: with an ensemble rule chosen on purpose (REDQ, mean of quantiles).

    References: Fujimoto et al. 2018, arXiv 1802.09477.
    """
    if len(bench.pieces.target_critics) < 2:
        return Skip("there is only one critic")
    found, gamma = bench.once(targets), float(bench.setting("gamma"))
    twins, got = found.known[GOING_ON], found.bootstrap[GOING_ON]
    ways = {
        "the larger": twins.max(-1).values,
        "the mean": twins.mean(-1),
        "the first": twins[:, 0],
        "the second": twins[:, 1],
    }
    smaller = twins.min(-1).values
    for what, value in ways.items():
        if gamma * float((value - smaller).abs().max()) <= found.error:
            continue  # by chance one and the same twin is the smaller in every row
        if float((got - gamma * value).abs().max()) <= found.error:
            return Symptom(
                f"the target takes {what} of the twin critics in all {len(got)} rows, not the smaller",
                "td_target",
                {"rows_n": len(got)},
            )
    return None
