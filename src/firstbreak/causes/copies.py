"""Causes in how copies of an environment are put together."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="copies-mixed-up",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ENVIRONMENT,
        summary="What one copy of the environment answers is handed to another: one array, buffer or index for all.",
        explains={
            "copies-alike": 3.0,
            "environment-moves-at-once": 0.5,
            "explained-variance-collapse": 0.5,
            "return-falls-at-once": 0.5,
        },
        experiments=(
            Experiment(
                "two copies by hand",
                "Step two copies with other actions, and print both observations, their rewards and their addresses.",
                "samples",
                command="firstbreak preflight env ENV",
            ),
        ),
        fixes=(
            Fix("Stack what the copies return along an axis of its own, and copy what a buffer will overwrite."),
            Fix("Go back to the last checkpoint from before it: what was learned since is of one copy in many."),
        ),
        separate_with=("env/copies_alike_frac",),
    ),
)
