"""A cause in what checks answers that were cut off."""

from __future__ import annotations

from ..cause import Cause, Fix
from ..finding import Component, Link
from .reward_signal import READ_SAMPLES

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="cut-answers-scored-wrong",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="An answer that was cut off is paid as a wrong one is, so the reward tells of length, not of the task.",
        explains={"truncation-scored-wrong": 2.5, "zero-std-groups": 1.0, "wrong-groups-grow": 0.5},
        experiments=(READ_SAMPLES,),
        fixes=(
            Fix("Leave answers that were cut off out of the loss, or give them no advantage (overlong filtering)."),
            Fix("Raise the limit on new tokens until few answers reach it.", (Link.ENVIRONMENT_DATA,)),
        ),
        separate_with=("seq/truncated_fraction", "reward/true_objective"),
    ),
)
