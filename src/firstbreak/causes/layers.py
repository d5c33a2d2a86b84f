"""Causes that stand between a task and its trainer: wrappers and adapters of one's own."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link

CAUSES = (
    Cause(
        name="wrapper-changes-task",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ENVIRONMENT,
        summary="A wrapper exchanges actions, holds back observations or skips steps, and no setting says so.",
        explains={
            "layers-change-task": 3.0,
            "worse-than-random": 0.7,
            "return-below-start": 0.5,
            "reward-flat": 0.5,
            "observations-held": 0.7,
        },
        experiments=(
            Experiment(
                "step beside the bare task",
                "Play ten actions in the task with and without its wrappers, from one seed; compare what comes back.",
                "code",
                command="firstbreak preflight env ENV",
            ),
        ),
        fixes=(
            Fix("Take the wrappers away one by one, innermost last; the first that restores the task is the fault."),
        ),
    ),
    Cause(
        name="wrapper-changes-reward",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="A wrapper delays or levels the task's reward.",
        explains={
            "layers-change-reward": 3.0,
            "worse-than-random": 0.7,
            "return-below-start": 0.7,
            "reward-beyond-task": 0.7,
            "reward-constant": 0.5,
            "reward-flat": 0.5,
        },
        experiments=(
            Experiment(
                "print both rewards",
                "Play ten actions in the task with and without its wrappers, from one seed; compare the rewards.",
                "code",
                command="firstbreak preflight env ENV",
            ),
        ),
        fixes=(Fix("Test each reward wrapper on one episode whose rewards are known."),),
    ),
)
