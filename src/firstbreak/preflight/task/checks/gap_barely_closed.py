"""The check `gap-barely-closed`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gap import gap_closed, several
from ..sample import TaskSample

LITTLE = 0.1
"""Upper bound of the share closed."""


@check(
    "PTK005",
    "gap-barely-closed",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Simplify the task or add a curriculum before raising the budget.",
    explained_by=("trained-worse-than-random", "trained-not-better-than-random"),
)
def look(sample: TaskSample) -> Answer:
    """Training has closed less than a tenth of the gap between random play and the expert.

    What is measured:
        (trained - random) / (expert - random) of the mean returns, with a 95 % bootstrap interval over episodes of all
        three; it fires when the upper bound is below 0.1.

    Why it hurts:
        The policy has learnt something, but at this pace the task is out of reach.

    Usual causes:
        A task that is too hard from the start; a curriculum that is missing; a local optimum of the reward, such as
        standing still.

    What to try:
        In this order: simplify the task until it is learnt, then a curriculum back to the full task, then more steps.

    When it is harmless:
        Early in a long training.

    References:
        Bengio et al. 2009 (curriculum learning); Agarwal et al. 2021, arXiv 2108.13264 (normalised scores).
    """
    returns = [sample.returns.get(who) for who in ("random", "expert", "trained")]
    random, expert, trained = returns
    if random is None or expert is None or trained is None:
        return Skip(
            "no returns of random play, an expert and the trained policy", ("expert returns", "trained returns")
        )
    if not all(several(v) for v in returns):
        return Skip("fewer than 20 finite episodes of each", ("more episodes",), withholds=True)
    closed = gap_closed(random, expert, trained)
    if closed is None:
        return Skip("the expert is not clearly better than random, so there is no gap")
    if closed.high >= LITTLE:
        return None
    return Symptom(
        f"{100 * closed.value:.1f} % of the gap to the expert is closed "
        f"({100 * closed.low:.1f} to {100 * closed.high:.1f})",
        "return.trained",
        {"gap_closed_frac": closed.value, "low_frac": closed.low, "high_frac": closed.high},
    )
