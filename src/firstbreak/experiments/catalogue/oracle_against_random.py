"""The experiment `oracle-against-random`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from ...errors import InputError
from ...finding import Component, Link
from ...target import load_target
from ..control.task import Task
from ..control.training import acting, seed_everything, table
from ..experiment import ENV, Cost, Measures, Need, Pair, Reading, Side, experiment
from ..subject import Subject
from ..trial import Trial

LARGE = 1.0
"""Spreads of a random policy's returns by which an expert must lead: a large effect is 0.8 (Cohen 1988, section 2.2),
and whoever knows the task should do better than large."""


def one_spread(pairs: list[Pair] | tuple[Pair, ...], subject: Subject) -> float:
    """Return one spread of single returns under a random policy; where it is 0, a thousandth of the mean."""
    del subject
    spread = sum(p.control["score_sd"] for p in pairs) / len(pairs)
    return LARGE * spread or 1e-9 + 1e-3 * abs(pairs[0].control["score"])


@experiment(
    "oracle-against-random",
    hypothesis="The reward does not tell good behaviour from bad: an expert is paid no more than chance.",
    changes="policy",
    control="random",
    changed="expert",
    prediction="The expert's return does not clearly exceed that of a random policy.",
    needs=(ENV, Need("expert", "--with expert=module:policy, a function from observation to action")),
    cost=Cost(0.0, "no training: some episodes of each policy"),
    reading=Reading(
        effect=lambda control, changed: changed["score"] - control["score"],
        confirms=Side.BELOW,
        margin=cast("Any", one_spread),
        exact=True,
    ),
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    pilot=3,
)
def measure(trial: Trial) -> Measures:
    """The reward does not tell good behaviour from bad.

    What is changed:
        Who plays, a random policy or the expert that was given; environment and reward stay.

    Prediction:
        If actions are not wired to the world or the reward is wrong, the expert earns no more than chance.

    How the verdict is drawn:
        Confirmed when expert minus random lies below one spread of a random policy's returns, refuted when above it. As
        long as it is confirmed, there is nothing for a trainer to learn.

    Cost:
        No training.

    When it cannot decide:
        When the expert is none. Whoever is not sure of that cannot tell the two apart here.

    References:
        The weak-expert baseline; Machado et al. 2018, arXiv 1709.06009, on baselines under one protocol.
    """
    task = Task(trial)
    trial.uses(policy=trial.settings["policy"])
    if trial.settings["policy"] == "random":
        return table("score", task.at_random().score)
    seed_everything(trial.seed)
    return table("score", task.score(_policy(str(trial.subject.given["expert"]))))


def _policy(address: str) -> Callable[[Any], Any]:
    found = load_target(address)
    made = found() if isinstance(found, type) else found
    if callable(getattr(made, "act", None)):
        return acting(made, True)
    if not callable(made):
        raise InputError(f"{address} is {type(made).__name__}, no policy.", "Give a function obs -> action.")
    return cast("Callable[[Any], Any]", made)
