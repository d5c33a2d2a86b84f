"""The experiment `sync-vs-async`."""

from __future__ import annotations

from ...finding import Component, Link
from ..experiment import Cost, Measures, Reading, Side, experiment
from ..language.training import LANGUAGE_TRAINER, OWN, OWN_ARGUMENT, SCORE, score_of, share_of_scale, train
from ..trial import Trial

STALENESS = "async/staleness_mean"


@experiment(
    "sync-vs-async",
    hypothesis="Stale rollouts hold learning down.",
    changes="max_staleness",
    control=OWN,
    changed=0,
    prediction="Trained synchronously for as many updates, the policy scores higher.",
    needs=(LANGUAGE_TRAINER,),
    options=(SCORE, OWN_ARGUMENT),
    cost=Cost(2.0, "two short trainings for each seed"),
    reading=Reading(
        effect=lambda control, changed: changed["score"] - control["score"],
        confirms=Side.ABOVE,
        margin=share_of_scale,
        unit="score",
    ),
    link=Link.DATA_FRESHNESS,
    component=Component.ROLLOUT,
)
def measure(trial: Trial) -> Measures:
    """Stale rollouts hold learning down.

    What is changed:
        How many versions a response may be behind when it is trained on: as configured, and 0, which is synchronous
        training. The trainer is given the keyword `max_staleness` in the changed arm only (or the one named by
        `max_staleness_argument`, such as max_head_offpolicyness). The number of updates is the same, not the time:
        asynchronous training is faster by the clock, which is its point.

    Prediction:
        If staleness is what hurts, synchronous training ends higher after as many updates.

    How the verdict is drawn:
        The effect is the gain of the score (`score`, by default reward/eval_mean). Confirmed above 5 points of a pass
        rate (5 % of the score's scale), refuted below.

    Cost:
        Two short trainings for each of at least five seeds.

    When it cannot decide:
        When the trainings are too short for staleness to tell: train longer. When synchronous training itself learns
        with some seeds and collapses with others: the learning rate is too large for either, lower it first.

    References:
        Fu et al. 2025 (AReaL), arXiv 2505.24298, section 5; AReaL documentation, "Diagnosing RL performance".
    """
    curves = train(trial, max_staleness=trial.settings["max_staleness"])
    found = {"score": curves.end(score_of(trial.subject, curves))}
    if STALENESS in curves.values:
        found["staleness"] = curves.end(STALENESS)
    return found
