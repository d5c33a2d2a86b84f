"""The TD loss trains Q at the stored action."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..td_rows import targets

OTHER_FRAC = 0.01
"""Rounding leaves 1e-4 at most; another action leaves over 10 %."""


@check(
    "INV087",
    "td-loss-scores-other-action",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Evaluate Q at the action stored with the row.",
)
@skips
def look(bench: Bench) -> Answer:
    """The TD loss trains Q at the stored action.

    Measured: with all rows terminated: the share of the critic's gradient that no weighting of grad Q(s, stored
    action) explains.

    Why it hurts: the reward of one action is credited to another.

    Usual causes: gathered at a wrong index, a fresh action of the policy put into the critic loss, actions permuted
    against rows.

    What to try: Q.gather(1, stored action); critic(obs, stored action).

    Harmless: never.
    """
    found = bench.once(targets)
    if float(found.slopes.abs().max()) == 0 and found.terminal.norm == 0:
        return Skip("the TD loss has no gradient")
    if found.terminal.residual_frac <= max(found.terminal.residual_error, OTHER_FRAC):
        return None
    return Symptom(
        f"{found.terminal.residual_frac:.0%} of the critic's gradient is not of Q at the stored actions",
        "update",
        {"unexplained_frac": found.terminal.residual_frac},
    )
