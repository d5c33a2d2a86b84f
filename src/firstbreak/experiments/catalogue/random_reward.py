"""The experiment `random-reward`."""

from __future__ import annotations

from ...finding import Component, Link
from ..control.readings import EXPECT, gain, learns, share_of_span
from ..control.training import SCORED, train_and_score
from ..experiment import ENV, TRAINER, Cost, Measures, Reading, Side, experiment
from ..trial import Trial


@experiment(
    "random-reward",
    hypothesis="The score rises on a reward that says nothing: the update itself favours some behaviour.",
    changes="reward",
    control="own",
    changed="random",
    prediction="Paid noise of the reward's own spread, the trainer still ends above its untrained start.",
    needs=(TRAINER, ENV),
    options=(*SCORED, EXPECT),
    cost=Cost(2.0, "two trainings for each pair of seeds"),
    reading=Reading(
        effect=lambda control, changed: gain(changed),
        confirms=Side.ABOVE,
        margin=share_of_span,
        symptom=learns,
    ),
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
)
def measure(trial: Trial) -> Measures:
    """The score rises on a reward that says nothing.

    What is changed:
        The trainer is paid noise with mean 0 and the spread that the reward has under a random policy. Both arms are
        scored on the true return.

    Prediction:
        If the rise needs no information in the reward, it stays. Unlike with a constant reward, updates do happen:
        clipping, normalisation and prior habits of the policy may turn them one way.

    How the verdict is drawn:
        Confirmed when the gain on noise lies above the margin, refuted when below it.

    Cost:
        Two trainings for each pair of seeds.

    When it cannot decide:
        When the control does not rise either. A random walk of a small policy may end anywhere, so the spread over
        seeds is large; more seeds may be asked for than with a constant reward.

    References:
        Shao et al. 2025, arXiv 2506.10947, "Spurious rewards".
    """
    trial.uses(reward=trial.settings["reward"])
    return train_and_score(trial, reward=str(trial.settings["reward"]))
