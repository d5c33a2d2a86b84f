"""The experiment `train-on-test`."""

from __future__ import annotations

from collections.abc import Sequence

from ...finding import Component, Link
from ..experiment import Cost, Measures, Option, Reading, Side, experiment
from ..language.training import LANGUAGE_TRAINER, OWN_ARGUMENT, SMALL_FRAC, mean_of, share_of_scale, train
from ..subject import Subject
from ..trial import Trial

REWARD = "reward/train_mean"


def _symptom(controls: Sequence[Measures], subject: Subject) -> str:
    del subject
    rise, scale = mean_of(controls, "rise"), max(1.0, *(abs(c["score"]) for c in controls))
    return "" if rise < 2 * SMALL_FRAC * scale else f"the reward rises on the training set, by {rise:.3g}"


@experiment(
    "train-on-test",
    hypothesis="The training data holds the reward down; trainer and model can learn.",
    changes="prompts",
    control="train",
    changed="test",
    prediction="Trained on the test set, the reward rises as it does not on the training set.",
    needs=(LANGUAGE_TRAINER,),
    options=(Option("reward", f"the metric that holds the training reward, instead of {REWARD}"), OWN_ARGUMENT),
    cost=Cost(2.0, "two short trainings for each seed"),
    reading=Reading(
        effect=lambda control, changed: changed["rise"] - control["rise"],
        confirms=Side.ABOVE,
        margin=share_of_scale,
        unit="reward",
        symptom=_symptom,
    ),
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
)
def measure(trial: Trial) -> Measures:
    """The training data holds the reward down; trainer and model can learn.

    What is changed:
        The prompts that are trained on: those of the training set, and those of the test set. The trainer is given the
        keyword `prompts`, "train" or "test" (or the one named by `prompts_argument`). Never keep such a model: the
        test set is spent on it.

    Prediction:
        It is read both ways. If the reward (`reward`, by default reward/train_mean) rises on the test set, the training
        data is at fault: look at its quality, its answers and its difficulty. If it does not rise there either, the
        data is not it: the trainer, its settings, or a task too hard for this model.

    How the verdict is drawn:
        The effect is by how much more the reward rises on the test set. Confirmed above 5 % of the reward's scale,
        refuted below. If it rises on the training set, there is nothing to explain, and nothing is concluded.

    Cost:
        Two short trainings for each of at least five seeds.

    When it cannot decide:
        When both rise a little: train longer.

    References:
        AReaL documentation, "Diagnosing RL performance", section on rewards that do not increase.
    """
    curves = train(trial, prompts=trial.settings["prompts"])
    reward = str(trial.subject.given.get("reward", REWARD))
    return {"score": curves.end(reward), "rise": curves.rise(reward)}
