"""Causes in what checks answers: verifiers of a task with a right answer."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link
from .reward_signal import READ_SAMPLES

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="verifier-too-lenient",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="The verifier pays wrong responses, such as those that name several answers.",
        explains={"hedged-answers-paid": 3.0, "false-success-rising": 1.0},
        experiments=(
            Experiment(
                "audit the verifier",
                "Put hedged, empty and malformed answers to it, and right ones written another way.",
                "samples",
                command="firstbreak audit verifier MODULE:FUNCTION",
            ),
            READ_SAMPLES,
        ),
        fixes=(Fix("Parse one final answer and compare it whole; refuse a response that gives several."),),
        separate_with=("reward/true_objective", "reward/eval_mean"),
    ),
)
