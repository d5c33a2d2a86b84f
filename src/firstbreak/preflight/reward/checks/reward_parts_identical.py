"""The check `reward-parts-identical`."""

from __future__ import annotations

from itertools import combinations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..measures import continuous
from ..parts import usable_parts
from ..sample import RewardSample

SAME = 1e-9
"""One minus the squared correlation of two columns that are one, but for a factor and rounding."""


@check(
    "PRW040",
    "reward-parts-identical",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Let each part read its own quantity; weigh one part higher if that is what is meant.",
)
def look(sample: RewardSample) -> Answer:
    """Two components are the same quantity: one is the other, times a constant.

    What is measured:
        Whether two parts that vary continuously are proportional to each other, up to a shift, in every row.

    Why it hurts:
        One purpose counts twice and another is not paid at all, while both are logged as alive.

    Usual causes:
        An index or a sensor copied from the line above; left and right exchanged in one place; a variable that is
        overwritten before the second part is computed.

    What to try:
        Print both parts of ten steps beside what each is meant to measure.

    When it is harmless:
        When a quantity is split over two names on purpose.

    References:
        None; two columns of data are compared.
    """
    parts = usable_parts(sample, 2)
    if isinstance(parts, Skip):
        return parts
    varied = {name: values for name, values in parts.items() if continuous(values)}
    for a, b in combinations(varied, 2):
        first, second = (varied[name] - varied[name].mean() for name in (a, b))
        power = float((first**2).sum() * (second**2).sum())
        if power > 0 and 1 - float((first * second).sum()) ** 2 / power < SAME:
            factor = float((first * second).sum() / (first**2).sum())
            return Symptom(
                f"components {a[:30]} and {b[:30]} are one quantity: the second is {factor:.3g} times the first",
                f"reward.{b}",
                {"first": a, "second": b, "factor": factor, "rows": len(first)},
            )
    return None
