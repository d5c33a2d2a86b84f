"""The experiment `reversed-reward`."""

from __future__ import annotations

from ...finding import Component, Link
from ..control.readings import EXPECT, falls_short, follows_reward, share_of_span
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
        sensitive=follows_reward,
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
        Confirmed when changed minus control lies above the margin. Refuted when it lies below the margin and below 0:
        a trainer that is not flipped ends lower when its reward is reversed.

    Cost:
        Two trainings for each pair of seeds. A direction shows before a level does: with `--steps` at a quarter of the
        run, PPO with its advantages flipped was confirmed on CartPole at a quarter of the cost; at a tenth it was left
        open, not decided wrongly.

    When it cannot decide:
        When both arms fail alike: a trainer that goes nowhere (broken in another way, or too slow for the steps it is
        given) does not show which way it would go. A sign that flips only late in training is hard to see, too: the
        changed arm is driven down first, and has only the rest of the run to climb back.

    References:
        Appendix of Huang et al. 2022, "The 37 implementation details of PPO", on checking signs.
    """
    trial.uses(reward=trial.settings["reward"])
    return train_and_score(trial, reward=str(trial.settings["reward"]))
