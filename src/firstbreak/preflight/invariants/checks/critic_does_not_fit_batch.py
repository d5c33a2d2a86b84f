"""The critic can fit one fixed batch."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..learning import STEPS, overfit

WANTED_FRAC = 0.05
"""Of what steps of that length could do at best; right trainers of three frameworks got 0.3 and more of it."""


@check(
    "INV075",
    "critic-does-not-fit-batch",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    fix="Follow the checks on the value loss and the optimiser first.",
    explained_by=(
        "parameter-not-in-optimiser",
        "value-loss-without-gradient",
        "value-loss-broadcasts",
        "value-loss-rows-distorted",
        "td-loss-without-gradient",
        "td-loss-broadcasts",
        "td-loss-scores-other-action",
        "td-target-terminated-bootstraps",
        "td-target-carries-gradient",
        "td-target-mixes-rows",
        "gradients-not-cleared",
        "gradient-clip-vanishing",
        "parameter-never-moves",
    ),
)
@skips
def look(bench: Bench) -> Answer:
    """The critic can fit one fixed batch.

    Measured: the squared error of the critic on twelve rows after 40 of the trainer's own updates on them,
    advantages 0; of Q networks on rows that all terminate, whose targets are the rewards.

    Why it hurts: a critic that cannot fit twelve rows cannot fit a task.

    Usual causes: critic missing from the optimiser, step far too small, target of another shape, value clipping
    around 0.

    What to try: fit the critic alone on one rollout; its error must fall.

    Harmless: with a very small learning rate: the budget says how much its steps could do, to first order.
    """
    found = bench.once(overfit)
    if found.budget_frac < 0.2:
        return Skip(f"{STEPS} steps of this optimiser could remove only {found.budget_frac:.0%} of the error")
    left = found.after / max(found.before, 1e-30)
    if left < 1.0 - WANTED_FRAC * found.budget_frac:
        return None
    return Symptom(
        f"{STEPS} updates on one batch leave {left:.0%} of the value error; steps could take {found.budget_frac:.0%}",
        "update",
        {"left_frac": left, "budget_frac": found.budget_frac},
    )
