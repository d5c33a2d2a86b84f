"""The rule `targets-not-td`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

RESIDUAL = "critic/target_residual"


@dataclass(frozen=True)
class Params:
    """Thresholds of `targets-not-td`: engineering defaults; right is 0 by definition."""

    limit: float = 0.01
    """Share of their spread by which targets may differ: single precision makes it 1e-6."""
    rows: int = 2
    """Rows on end."""


SAC = synth.like("SAC")
EXACT = synth.clipped(synth.flat(1e-7, 0.5), 0, 1)
CASES = (
    fires("targets of other rows, half-way", lambda: SAC({RESIDUAL: synth.after(0.5, synth.flat(1.2, 0.1), EXACT)})),
    fires("wrong from the start", lambda: SAC({RESIDUAL: synth.flat(0.4, 0.1)})),
    healthy("rounding", lambda: SAC({RESIDUAL: EXACT})),
    near_miss("one batch that somebody looked into", lambda: SAC({RESIDUAL: synth.spikes(1e-7, 0.2, (0.6,))})),
)


@rule(
    "CRT055",
    "targets-not-td",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    needs=(RESIDUAL,),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "critic-loss-not-its-targets",
        "critic-loss-leaps",
        "critic-not-learning",
        "critic-leaves-past",
        "critic-moves-at-once",
        "value-loss-explosion",
        "values-jump",
        "q-divergence",
        "smooth-decline",
        "return-collapse",
        "reward-flat",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The targets of the critic are not those that its networks, the discount and the sampled rows make.

    What it means:
        Reward, discount, end and the target networks' next value, put together by the book for the same rows and the
        same draws, give other numbers than the training code's.

    Why it matters:
        The critic is fitted to something else than the values of what it sees, and the policy follows the critic.

    Usual causes:
        Targets that belong to other rows of the batch; a bonus, a scale or a discount that only the code knows;
        ends that are ignored; the online network where the target network is meant.

    What to try:
        Take one batch; print rewards, ends, next values and targets row by row, and sum by hand.

    When it is harmless:
        Targets of your own (several steps, distributions): ignore the rule there.

    References:
        Mnih et al. 2015, doi:10.1038/nature14236; Haarnoja et al. 2018, arXiv 1812.05905, equation 3.
    """
    return lasting(
        view,
        RESIDUAL,
        params,
        lambda value: f"targets are {value:.2g} of their spread from what networks, discount and rows make of them",
    )
