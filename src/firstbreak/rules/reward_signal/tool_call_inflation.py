"""The rule `tool-call-inflation`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST, TRUTH, began, moved, rises
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `tool-call-inflation`. Engineering defaults where no source is named."""

    ratio: float = 1.5
    """Tool calls over those of the opening. Engineering default."""
    z: float = 5.0
    """Standard errors by which calls must have risen; the reward needs 3."""


GRPO = synth.like("GRPO")
CALLS = {"tool/calls_mean": synth.ramp(2, 8, 0.03)}
CASES = (
    fires("calls pay, success flat", lambda: GRPO(CALLS | {"reward/true_objective": synth.flat(0.3, 0.05)})),
    fires("calls and reward rise, success unknown: a hint", lambda: GRPO(CALLS)),
    healthy("steady calls", lambda: GRPO({"tool/calls_mean": synth.flat(2, 0.05)})),
    near_miss("tools help", lambda: GRPO(CALLS | {"reward/true_objective": synth.ramp(0.2, 0.7, 0.03)})),
    near_miss("more calls without more reward", lambda: GRPO(CALLS | {"reward/train_mean": synth.flat(0.3)})),
)


@rule(
    "RWD021",
    "tool-call-inflation",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    needs=("tool/calls_mean",),
    any_of=(("reward/train_mean", "reward/rollout_mean"),),
    min_points=16,
    across_phases=True,
    params=Params(),
    cases=CASES,
    implies=("turn-blow-up", "truncation-growing", "step-time-tail", "throughput-decay"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Tool calls and reward rise together without more success.

    What it means:
        Calls per trajectory lie well above the run's opening, the reward rose with them, and the task's own success is
        unknown or has not followed.

    Why it matters:
        A process reward that pays for calls is met by calls.

    Usual causes:
        A bonus per (valid) call; no cost of calls; repeated calls that count each time.

    What to try:
        Remove the process reward for a short run; count duplicate calls.

    When it is harmless:
        Tools that help: success then rises and the rule stays silent.

    References:
        Engineering defaults; see the parameters.
    """
    calls, reward = view.get("tool/calls_mean"), view.get("reward/train_mean", "reward/rollout_mean")
    assert calls is not None
    assert reward is not None
    if min(len(calls), len(reward)) < 2 * LEAST:
        return None
    more, gain = moved(calls), moved(reward)
    if more.z < params.z or more.recent < params.ratio * more.reference or gain.z < 3:
        return None
    measured = [p for p in (view.get(n) for n in TRUTH) if p is not None and len(p) >= 4]
    if any(rises(p) for p in measured):
        return None
    return Detection(
        message=f"calls {more.reference:.3g} to {more.recent:.3g}, reward {gain.reference:.3g} to {gain.recent:.3g}",
        onset=began(view, calls),
        metric=calls.metric,
        evidence={"opening_calls": more.reference, "recent_calls": more.recent, "calls_z": more.z, "reward_z": gain.z},
        severity=Severity.WARNING if measured and len(reward) >= 30 else Severity.INFO,
    )
