"""The experiment `reversed-reward`."""

from __future__ import annotations

from ...finding import Component, Link
from ..control.direction import LENGTH, QUARTER, RATE, length_and_rate, slowed, stages, symptom
from ..control.knobs import OWN_NAME
from ..control.readings import EXPECT, follows_reward, share_of_span
from ..control.training import SCORED, train_and_score
from ..experiment import ENV, TRAINER, Cost, Measures, Reading, Side, experiment
from ..trial import CHANGED, Trial


@experiment(
    "reversed-reward",
    hypothesis="The trainer walks down its reward: a sign is flipped somewhere on the way.",
    changes="reward",
    control="own",
    changed="reversed",
    prediction="Paid the negative of its reward, the trainer ends higher in true return than paid its reward.",
    needs=(TRAINER, ENV),
    options=(*SCORED, EXPECT, LENGTH, RATE, OWN_NAME),
    cost=Cost(
        2 * QUARTER,
        "two trainings of a quarter of the run for each pair of seeds, and whole ones where it is left open",
    ),
    reading=Reading(
        effect=lambda control, changed: changed["score"] - control["score"],
        confirms=Side.ABOVE,
        margin=share_of_span,
        symptom=symptom,
        sensitive=follows_reward,
    ),
    stages=stages,
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
        a trainer that is not flipped ends lower when its reward is reversed. A quarter of the run is tried first; what
        that leaves open, or what rises at first, is asked anew over the whole run. Where the policy fell below its
        untrained start whichever way it was paid, its steps are too large to go anywhere: it is asked with a tenth and
        then a hundredth of its learning rate, the same in both arms. The stages share the error of one verdict.

    Cost:
        Two trainings of a quarter of the run for each pair of seeds; where these say too little, two whole ones. With
        `--with length=X` all trainings take that share of the run, and there are no stages.

    When it cannot decide:
        When both arms fail alike: a trainer that goes nowhere (broken in another way, or too slow for the steps it is
        given) does not show which way it would go. A sign that flips only late in training is hard to see, too: the
        changed arm is driven down first, and has only the rest of the run to climb back.

    References:
        Appendix of Huang et al. 2022, "The 37 implementation details of PPO", on checking signs.
    """
    length, rate = length_and_rate(trial)
    trial.uses(reward=trial.settings["reward"])
    return train_and_score(
        trial,
        reward=str(trial.settings["reward"]),
        factor=length,
        settings=None if rate == 1.0 else slowed(trial, rate),
        ends_only=trial.arm == CHANGED,
    )
