"""The next value is discounted by gamma, once."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..td_rows import GOING_ON, right_bootstrap, targets


@check(
    "INV083",
    "td-target-discount-wrong",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Multiply the next value by gamma exactly once.",
)
@skips
def look(bench: Bench) -> Answer:
    """The next value is discounted by gamma, once.

    Measured: the factor between the bootstrap read off the gradient and the known next value.

    Why it hurts: another discount is another task; with none, values of endless tasks are infinite.

    Usual causes: gamma missing, squared, or a default in place of the setting; n-step discount with one-step
    rewards.

    What to try: target = r + gamma (1 - terminated) V(next).

    Harmless: with n-step returns: then give the discount of the whole step as gamma.
    """
    found = bench.once(targets)
    if not found.terminal.norm:
        return Skip("the TD loss has no gradient that tells its targets")
    gamma = float(bench.setting("gamma"))
    right, got = right_bootstrap(bench, found)[GOING_ON].double(), found.bootstrap[GOING_ON].double()
    share = float(got @ right) / float(right @ right)
    rest = float((got - share * right).abs().max())
    if rest > found.error or abs(share - 1.0) <= found.error / float(right.abs().max()):
        return None
    return Symptom(
        f"the next value is discounted by {share * gamma:.4f}, gamma is {gamma:.4f}",
        "td_target",
        {"discount": share * gamma, "gamma": gamma},
    )
