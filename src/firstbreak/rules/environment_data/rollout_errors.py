"""The rule `rollout-errors`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import ended, from_start
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `rollout-errors`. Engineering defaults where no source is named."""

    notice_frac: float = 0.05
    """Share of failed rollouts worth a hint. Engineering default."""
    warn_frac: float = 0.2
    """Share that biases what is learned: one rollout in five is not the policy's doing."""
    fail_frac: float = 0.5
    """Share from which most of the data is not about the policy at all."""
    rows: int = 3
    """Latest rows whose median is judged."""


GRPO = synth.like("GRPO")
CASES = (
    fires("one rollout in three fails", lambda: GRPO({"env/error_fraction": synth.jump(0.01, 0.3)})),
    fires("most fail", lambda: GRPO({"env/error_fraction": synth.flat(0.7, 0.05)})),
    healthy("almost none fail", lambda: GRPO({"env/error_fraction": synth.flat(0.005, 0.1)})),
    near_miss("a single bad row", lambda: GRPO({"env/error_fraction": synth.spikes(0.01, 0.6, at=(0.5,))})),
)


@rule(
    "ENV008",
    "rollout-errors",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    needs=("env/error_fraction",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("reward-flat", "return-collapse", "tool-failures-rising", "reward-noisy"),
)
def detect(view: RunView, params: Params) -> Answer:
    """A noticeable share of the rollouts ends in an infrastructure error.

    What it means:
        Set-up failures, time-outs or crashes end trajectories; they are not the policy's failures.

    Why it matters:
        Trained on as if they were, they punish whatever the policy did just then, and the reward measures uptime.

    Usual causes:
        Overloaded sandboxes, missing images, expired credentials, too short time-outs.

    What to try:
        Replay identical actions: rewards that differ come from the environment. Drop or mask failed rollouts.

    When it is harmless:
        Where failed rollouts are masked out of the loss; then only throughput suffers.

    References:
        Engineering defaults; see the parameters.
    """
    errors = view.get("env/error_fraction")
    assert errors is not None
    if not len(errors) or not (len(errors) >= params.rows or ended(view)):
        return None
    level = median(errors.value[-params.rows :])
    if level < params.notice_frac:
        return None
    severity = (
        Severity.ERROR
        if level >= params.fail_frac
        else Severity.WARNING
        if level >= params.warn_frac
        else Severity.INFO
    )
    over = persistent_onset(errors.step, errors.value >= params.notice_frac, 1)
    return Detection(
        message=f"{level:.0%} of the rollouts end in an infrastructure error",
        onset=view.onset(*over) if over is not None else from_start(view, errors),
        metric=errors.metric,
        evidence={"error_frac": level, "error_frac_max": errors.max},
        severity=severity,
    )
