"""Causes in what is around the learner and changes by degrees."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="environment-wears-out",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ENVIRONMENT,
        summary="An actuator, a sensor or the way to them changes little by little: what was learned fits ever less.",
        explains={
            "world-slips-away": 3.0,
            "return-falls-at-once": 0.5,
            "explained-variance-collapse": 0.5,
            "value-loss-explosion": 0.5,
        },
        experiments=(
            Experiment(
                "play the opening again",
                "Play the first saved episodes again, action by action, and draw how far observations come to differ.",
                "samples",
                command="firstbreak preflight env ENV",
            ),
        ),
        fixes=(
            Fix("Calibrate or replace what wore out; reset counters, filters and queues that grow with time."),
            Fix("Go back to the last checkpoint from before it: what was learned since is of another world."),
        ),
        separate_with=("env/predicted_frac", "env/action_response"),
    ),
    Cause(
        name="reward-grows-by-degrees",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="Something is paid more and more for the same: a weight, a bonus or a counter of it does not stop.",
        explains={
            "reward-outgrows-bound": 3.0,
            "value-loss-explosion": 0.5,
            "values-jump": 0.5,
            "explained-variance-collapse": 0.3,
        },
        experiments=(
            Experiment(
                "score again",
                "Score the same saved transitions with the reward code of before and of now, term by term.",
                "samples",
                command="firstbreak preflight reward",
            ),
        ),
        fixes=(
            Fix("Bound or reset what grows, and log each term of the reward by itself."),
            Fix("Go back to the last checkpoint from before it: the policy has since learned to earn that term."),
        ),
        separate_with=("reward/env_max", "reward/env_surprise"),
    ),
    Cause(
        name="replay-drawn-unevenly",
        link=Link.DATA_FRESHNESS,
        component=Component.SAMPLER,
        summary="Batches are drawn from a part of the replay buffer, or from steps that were not played so.",
        explains={"replay-unlike-world": 3.0, "batch-repeated": 0.5, "return-collapse": 0.3},
        experiments=(
            Experiment(
                "draw and count",
                "Draw 10,000 indices as training does: a histogram of their ages is flat where all steps are drawn.",
                "samples",
            ),
        ),
        fixes=(
            Fix("Draw indices over all that the buffer holds, and write each episode into it once."),
            Fix("Go back to the last checkpoint from before it: the critic has since unlearned the rest."),
        ),
        separate_with=("reward/step_mean", "reward/env_mean"),
    ),
)
