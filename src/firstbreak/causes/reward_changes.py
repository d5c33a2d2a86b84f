"""A reward that became another one while the run went on."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="reward-changed",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="The reward function, its scale, its timing or its scorer is not the one that was meant.",
        explains={
            "reward-redefined": 3.0,
            "reward-recast": 3.0,
            "rewards-begin-to-repeat": 2.0,
            "reward-shifted": 3.0,
            "reward-beyond-all": 3.0,
            "steps-earn-beyond-all": 3.0,
            "rewards-pass-their-best": 3.0,
            "return-leaves-range": 2.0,
            "reward-unforeseen": 3.0,
            "reward-beyond-horizon": 1.5,
            "reward-steps-down": 3.0,
            "values-turned-round": 2.0,
            "scorer-drift": 3.0,
            "return-collapse": 0.7,
            "reward-scale-mismatch": 1.0,
            "value-loss-explosion": 0.7,
            "explained-variance-collapse": 0.5,
            "q-over-bound": 0.5,
            "q-divergence": 0.5,
            "alpha-runaway": 0.5,
        },
        experiments=(
            Experiment(
                "score again",
                "Score the same saved transitions with the reward code of before and of now.",
                "samples",
                command="firstbreak preflight reward",
            ),
        ),
        fixes=(Fix("Put the reward back, and go back to the last checkpoint from before the change."),),
        separate_with=("reward/env_mean", "reward/env_std"),
    ),
)
