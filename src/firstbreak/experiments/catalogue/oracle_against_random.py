"""The experiment `oracle-against-random`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from ...errors import InputError
from ...finding import Component, Link
from ...target import load_target
from ..control.task import EVALUATED, Task
from ..control.training import acting, seed_everything, table
from ..experiment import ENV, Cost, Measures, Need, Reading, Side, experiment
from ..trial import Trial

CLEARLY = 0.2
"""Starts on which the expert is paid more, minus those on which it is paid less, as a share of those on which the two
are not paid alike: 60 against 40 in a hundred. Between a small effect (56) and a medium one (64) by Vargha and Delaney
(2000, J. Educ. Behav. Stat. 25(2)). The spread of returns is no yardstick here: noise in the reward widens it at will.
"""
PLAYED_FRAC = 0.05
"""Share of the run's steps after which a policy plays no further start. Six times that is played, without learning."""
ALIKE = 1e-6
"""Relative difference of returns that counts as none: float32 rounding."""


@experiment(
    "oracle-against-random",
    hypothesis="The reward does not tell good behaviour from bad: an expert is paid no more than chance.",
    changes="policy",
    control="random",
    changed="expert",
    prediction="From the same starts, the expert is not paid more clearly oftener than it is paid less.",
    needs=(ENV, Need("expert", "--with expert=module:policy, a function from observation to action")),
    options=(EVALUATED,),
    cost=Cost(0.0, "no training: some episodes of each policy"),
    reading=Reading(
        effect=lambda control, changed: changed["paid_more_frac"] - control["paid_more_frac"],
        confirms=Side.BELOW,
        margin=CLEARLY,
        unit="of the starts (more minus less)",
        exact=True,
    ),
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    pilot=3,
    together=True,
)
def measure(trial: Trial) -> tuple[Measures, Measures]:
    """The reward does not tell good behaviour from bad.

    What is changed:
        Who plays, a random policy or the expert that was given, from the same starts; environment and reward stay.

    Prediction:
        If actions are not wired to the world or the reward is wrong, the expert earns no more than chance.

    How the verdict is drawn:
        Of the starts on which the two are not paid alike, the share on which the expert is paid more minus the share
        on which it is paid less. Confirmed when it lies below 0.2, refuted when above it. By how much returns differ
        does not matter, so that noise or a few large returns do not hide which is the higher. As long as it is
        confirmed, there is nothing for a trainer to learn.

    Cost:
        No training. Where the length of the run is told, fewer starts than 20 are played (but 5 at least) once those of
        a policy have taken a twentieth of its steps (and 2,000).

    When it cannot decide:
        When the expert is none. Whoever is not sure of that cannot tell the two apart here.

    References:
        Cliff 1993, Psychol. Bull. 114(3), for the measure; Machado et al. 2018, arXiv 1709.06009, on baselines under
        one protocol.
    """
    task = Task(trial)
    if trial.subject.steps is not None:
        task.cheaper_than(trial.subject.steps, PLAYED_FRAC)
    random = task.at_random().score
    seed_everything(trial.seed)
    expert = task.score(_policy(str(trial.subject.given["expert"])))
    paid = {**table("score", expert), "paid_more_frac": paid_more(random.returns, expert.returns)}
    return {**table("score", random), "paid_more_frac": 0.0}, paid


def paid_more(random: Sequence[float], expert: Sequence[float]) -> float:
    """Return the share of starts [n] on which the expert's return is higher, minus that on which it is lower.

    Of those on which the returns differ; 0 where none do.
    """
    signs = [
        0 if abs(b - a) <= ALIKE * max(abs(a), abs(b)) else (1 if b > a else -1)
        for a, b in zip(random, expert, strict=False)  # one of them may have been cut short: it took too many steps
    ]
    return sum(signs) / max(sum(map(abs, signs)), 1)


def _policy(address: str) -> Callable[[Any], Any]:
    found = load_target(address)
    made = found() if isinstance(found, type) else found
    if callable(getattr(made, "act", None)):
        return acting(made, True)
    if not callable(made):
        raise InputError(f"{address} is of type {type(made).__name__}, no policy.", "Give a function obs -> action.")
    return cast("Callable[[Any], Any]", made)
