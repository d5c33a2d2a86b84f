"""The experiment `length-penalty`."""

from __future__ import annotations

from collections.abc import Sequence

from ...finding import Component, Link
from ..batch.given import number_of
from ..experiment import Cost, Measures, Option, Reading, Side, experiment
from ..language.training import LANGUAGE_TRAINER, OWN_ARGUMENT, SCORE, mean_of, score_of, share_of_scale, train
from ..subject import Subject
from ..trial import Trial

PENALTY = 0.02
"""Taken off the reward for each token (or character), unless `penalty` is given. Engineering default: ten tokens cost a
fifth of a reward of 1."""
GROWTH_FRAC = 0.1
"""Growth of the responses from which there is something to explain. Engineering default."""
LENGTH = "seq/len_mean"


def _symptom(controls: Sequence[Measures], subject: Subject) -> str:
    del subject
    growth = mean_of(controls, "length_growth")
    return "" if growth >= GROWTH_FRAC else f"the responses of the control grow by {growth:+.0%} only"


@experiment(
    "length-penalty",
    hypothesis="The reward pays for length: what the responses gained in length is of no use to the task.",
    changes="length_penalty",
    control=0.0,
    changed="penalty",
    prediction="With a penalty on length the score on the private set does not fall.",
    needs=(LANGUAGE_TRAINER,),
    options=(
        Option("penalty", f"what a token costs, instead of {PENALTY:g}", number=True),
        Option("length", f"the metric that holds the length of responses, instead of {LENGTH}"),
        SCORE,
        OWN_ARGUMENT,
    ),
    cost=Cost(2.0, "two short trainings for each seed"),
    reading=Reading(
        effect=lambda control, changed: control["score"] - changed["score"],
        confirms=Side.BELOW,
        margin=share_of_scale,
        unit="score",
        symptom=_symptom,
    ),
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
)
def measure(trial: Trial) -> Measures:
    """The reward pays for length, not for the task.

    What is changed:
        A penalty on length in the reward: none, and `penalty` for each token. The trainer is given the keyword
        `length_penalty` (or the one named by `length_penalty_argument`).

    Prediction:
        If length was only what the reward pays for, the score on a private set (`score`, by default
        reward/eval_mean), which has no such penalty, does not fall when responses are made short. If the task needs
        the length, it does.

    How the verdict is drawn:
        The effect is the private score that the penalty costs. Confirmed when it is less than 5 points of a pass rate
        (5 % of the score's scale), refuted when it is more. If the responses of the control (`length`, by default
        seq/len_mean) do not grow by a tenth, there is nothing to explain, and nothing is concluded.

    Cost:
        Two short trainings for each of at least five seeds.

    When it cannot decide:
        When the private set is small: its noise hides five points.

    References:
        Singhal et al. 2023, arXiv 2310.03716, section 4 (length as the main thing learnt in RLHF).
    """
    own = trial.settings["length_penalty"]
    penalty = number_of(trial.subject, "penalty", PENALTY) if own == "penalty" else own
    curves = train(trial, length_penalty=penalty)
    length = str(trial.subject.given.get("length", LENGTH))
    start = curves.start(length)
    return {
        "score": curves.end(score_of(trial.subject, curves)),
        "length": curves.end(length),
        "length_growth": curves.rise(length) / max(abs(start), 1e-9),
    }
