"""The value loss pulls every value towards its target in proportion to the difference."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..policy_rows import value_rows

REST_FRAC = 0.05
"""The bound on what rounding may do to a weight before it is not judged."""


@check(
    "INV072",
    "value-loss-rows-distorted",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Clip the change of the value around the old value, and keep the larger loss.",
    explained_by=(
        "value-loss-broadcasts",
        "value-loss-without-gradient",
    ),
)
@skips
def look(bench: Bench) -> Answer:
    """The value loss pulls every value towards its target in proportion to the difference.

    Measured: the rows' weights in the value gradient for small differences, against those differences; old and new
    values are equal.

    Why it hurts: part of the states is never learnt, or the critic cannot leave a band.

    Usual causes: value clipping around 0 instead of around the old value, a sign error, targets clipped or
    misaligned.

    What to try: V_old + clamp(V - V_old, -eps, eps), and the larger of both losses.

    Harmless: with a robust loss whose bound is below 0.5.
    """
    found = bench.once(value_rows)
    if found.fit.norm <= 1e-3 * found.expected_norm or not found.fit.sure:
        return Skip(f"value loss: {found.fit.unsure}", withholds=not found.fit.sure)
    offset = found.offset.double()
    slope = float(found.fit.weights @ offset / (offset @ offset))
    rest = float((found.fit.weights - slope * offset).norm() / found.fit.weights.norm())
    if slope < 0 and rest <= REST_FRAC and found.fit.residual_frac <= max(found.fit.residual_error, REST_FRAC):
        return None
    stopped = float((found.fit.weights.abs() < 0.05 * (slope * offset).abs()).float().mean())
    what = f"{stopped:.0%} of the rows get no gradient" if stopped else f"{rest:.0%} of the weights is something else"
    if slope >= 0:
        what = "values are pushed away from their targets"
    return Symptom(
        f"the value loss does not pull each value to its target: {what}",
        "update",
        {"distorted_frac": rest, "stopped_frac": stopped, "slope": slope},
    )
