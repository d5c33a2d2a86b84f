"""The TD target of a terminated step is its reward."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..td_rows import TERMINATED, targets


@check(
    "INV080",
    "td-target-terminated-bootstraps",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Multiply the bootstrap by (1 - terminated).",
    explained_by=("td-loss-scores-other-action",),
)
@skips
def look(bench: Bench) -> Answer:
    """The TD target of a terminated step is its reward.

    Measured: target minus reward at terminated rows, read off the critic's gradient with known next values; 0 is
    right.

    Why it hurts: values of states that do not exist enter; they grow without ground.

    Usual causes: the factor (1 - terminated) missing or taken from another column.

    What to try: target = r + gamma (1 - terminated) V(next).

    Harmless: never.

    References: Mnih et al. 2015, doi:10.1038/nature14236.
    """
    found = bench.once(targets)
    if not found.even:
        return Skip("the rows of the TD loss cannot be told apart", withholds=True)
    worst = float(found.bootstrap[TERMINATED].abs().max())
    if worst <= found.error:
        return None
    return Symptom(
        f"at terminated steps the target is not the reward but {worst:.2g} away from it: it still bootstraps",
        "td_target",
        {"bootstrap": worst, "rounding": found.error},
    )
