"""The experiment `reversed-reward`."""

from __future__ import annotations

from ...finding import Component, Link
from ..control.readings import EXPECT, falls_short, share_of_span
from ..control.training import SCORED, train_and_score
from ..experiment import ENV, TRAINER, Cost, Measures, Reading, Side, experiment
from ..trial import Trial


@experiment(
    "reversed-reward",
    hypothesis="The trainer walks down its reward: a sign is flipped somewhere on the way.",
    changes="reward",
    control="own",
    changed="reversed",
    prediction="Paid the negative of its reward, the trainer ends higher in true return than paid its reward.",
    needs=(TRAINER, ENV),
    options=(*SCORED, EXPECT),
    cost=Cost(2.0, "two trainings for each pair of seeds"),
    reading=Reading(
        effect=lambda control, changed: changed["score"] - control["score"],
        confirms=Side.ABOVE,
        margin=share_of_span,
        symptom=falls_short,
    ),
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
)
def measure(trial: Trial) -> Measures:
    """The trainer walks down its reward: a sign is flipped on the way.

    What is changed:
        The reward that the trainer is paid, times -1. Both arms are scored on the true return.

    Prediction:
        With a sign flipped somewhere, the second flip undoes it: the changed arm ends above the control.

    How the verdict is drawn:
        Confirmed when changed minus control lies above the margin, refuted when below it.

    Cost:
        Two trainings for each pair of seeds.

    When it cannot decide:
        When the trainer is broken in another way as well, both arms fail alike, which refutes the flip as the one cause
        and says nothing of the other fault.

    References:
        Appendix of Huang et al. 2022, "The 37 implementation details of PPO", on checking signs.
    """
    trial.uses(reward=trial.settings["reward"])
    return train_and_score(trial, reward=str(trial.settings["reward"]))
