"""The TD target of a truncated step bootstraps."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..td_rows import GOING_ON, TRUNCATED, right_bootstrap, targets


@check(
    "INV081",
    "td-target-truncated-cut",
    link=Link.ENVIRONMENT_DATA,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Mask the bootstrap with terminated, not with done.",
)
@skips
def look(bench: Bench) -> Answer:
    """The TD target of a truncated step bootstraps.

    Measured: target minus reward at truncated rows, read off the critic's gradient with known next values.

    Why it hurts: a time limit is learnt as an end: states late in an episode look worthless.

    Usual causes: masked by done instead of terminated.

    What to try: mask with terminated only.

    Harmless: when the time limit is part of the task and the time left is observed.

    References: Pardo et al. 2018, arXiv 1712.00378.
    """
    found = bench.once(targets)
    if not found.terminal.norm:
        return Skip("the TD loss has no gradient that tells its targets")
    right = right_bootstrap(bench, found)
    lost = float(found.bootstrap[TRUNCATED].abs().max())
    kept = float(found.bootstrap[GOING_ON].abs().max())
    if lost > found.error or kept <= found.error:
        return None
    return Symptom(
        "at time limits the target is the reward alone; up to "
        f"{float(right[TRUNCATED].abs().max()):.2g} of bootstrap is lost",
        "td_target",
        {"bootstrap": lost, "right_bootstrap": float(right[TRUNCATED].abs().max())},
    )
