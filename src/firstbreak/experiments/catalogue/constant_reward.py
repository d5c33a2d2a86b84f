"""The experiment `constant-reward`."""

from __future__ import annotations

from ...finding import Component, Link
from ..control.readings import EXPECT, gain, learns, share_of_span
from ..control.training import SCORED, train_and_score
from ..experiment import ENV, TRAINER, Cost, Measures, Reading, Side, experiment
from ..trial import Trial


@experiment(
    "constant-reward",
    hypothesis="The score rises without the reward: the trainer learns from something else, or the yardstick moves.",
    changes="reward",
    control="own",
    changed="constant",
    prediction="Paid 0 at every step, the trainer still ends above its untrained start.",
    needs=(TRAINER, ENV),
    options=(*SCORED, EXPECT),
    cost=Cost(2.0, "two trainings for each pair of seeds"),
    reading=Reading(
        effect=lambda control, changed: gain(changed),
        confirms=Side.ABOVE,
        margin=share_of_span,
        symptom=learns,
    ),
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
)
def measure(trial: Trial) -> Measures:
    """The score rises without the reward.

    What is changed:
        The trainer is paid 0 at every step. Both arms are scored on the true return. (A constant other than 0 would
        still pay for longer or shorter episodes.)

    Prediction:
        If the reward is not what drives the rise, it stays: the changed arm ends above its untrained start.

    How the verdict is drawn:
        Confirmed when the gain without any reward lies above the margin, refuted when below it.

    Cost:
        Two trainings for each pair of seeds.

    When it cannot decide:
        When the control does not rise either, there is nothing to explain.

    References:
        Shao et al. 2025, arXiv 2506.10947, on rewards without information that raise scores.
    """
    trial.uses(reward=trial.settings["reward"])
    return train_and_score(trial, reward=str(trial.settings["reward"]))
