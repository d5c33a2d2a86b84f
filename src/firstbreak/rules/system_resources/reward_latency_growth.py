"""The rule `reward-latency-growth`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import linear_trend, median, rank_correlation, safe_log
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-latency-growth`: engineering defaults, except where a source is named."""

    factor: float = 3.0
    """End over start of a line through the logarithm of the latency, per token where lengths are logged. Engineering
    default."""
    monotone: float = 0.6
    """Rank correlation of latency and time."""
    rows: int = 8
    """First and latest rows whose medians must differ by the factor as well: a row may wait for the machine."""
    share: float = 0.05
    """Share of the time of a step from which on scoring matters to it. Engineering default."""
    least_s: float = 0.01
    """Seconds under which a scorer is idle whatever the factor: time-outs are counted in seconds. Engineering
    default."""


GRPO = synth.like("GRPO")

CASES = (
    fires("scoring slows fivefold", lambda: GRPO({"reward/latency_s": synth.ramp(1.0, 6.0)})),
    healthy("steady", lambda: GRPO({"reward/latency_s": synth.flat(1.0, 0.1)})),
    near_miss(
        "a hundredth of the time of a step",
        lambda: GRPO({"reward/latency_s": synth.ramp(0.01, 0.06), "time/step": synth.flat(6.0)}),
    ),
    near_miss(
        "single rows that waited, more of them late",
        lambda: GRPO({"reward/latency_s": synth.spikes(0.01, 1.0, at=(0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99))}),
    ),
    near_miss("a function of a fraction of a millisecond", lambda: GRPO({"reward/latency_s": synth.ramp(1e-4, 6e-4)})),
    near_miss(
        "grows with the responses",
        lambda: GRPO({"reward/latency_s": synth.ramp(1.0, 6.0), "seq/len_mean": synth.ramp(100, 600)}),
    ),
)


@rule(
    "SYS008",
    "reward-latency-growth",
    link=Link.SYSTEM_RESOURCES,
    component=Component.REWARD,
    severity=Severity.WARNING,
    any_of=(("reward/latency_s", "time/reward"),),
    min_points=24,
    params=Params(),
    cases=CASES,
    implies=("phase-bottleneck", "trainer-starved", "default-reward-stuck"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Scoring takes longer and longer.

    What it means:
        The latency of the reward has tripled, beyond what longer responses explain, and is no small part of a step.

    Why it matters:
        Time-outs follow, and default rewards enter the training unseen.

    Usual causes:
        An overloaded judge or sandbox; queues without a bound; processes that are never reaped.

    What to try:
        Log time-outs and default rewards apart; look at the load of the service; bound the queue.

    When it is harmless:
        A new, slower reward from a known step on. Not reported while it is under a twentieth of the step.

    References:
        Dean & Barroso 2013, "The tail at scale".
    """
    latency, length = view.get("reward/latency_s", "time/reward"), view.get("seq/len_mean")
    assert latency is not None
    value = latency.value
    if length is not None and len(length) >= 2 and length.min > 0:
        value = value / np.interp(latency.step, length.step, length.value)
    trend = linear_trend(latency.step, safe_log(value))
    steady = rank_correlation(latency.step, value)
    factor = float(np.exp(trend.change))
    now = median(latency.value[-params.rows :])
    if factor < params.factor or steady < params.monotone or now < params.least_s:
        return None
    if median(value[-params.rows :]) < params.factor * median(value[: params.rows]) or slight(view, now, params):
        return None
    return Detection(
        message=f"Scoring takes {factor:.3g} times as long as at the start ({now:.3g} s)",
        onset=view.onset(float(latency.step[0]), float(latency.step[len(latency) // 2])),
        metric=latency.metric,
        evidence={"factor": factor, "latency_s": now},
    )


def slight(view: RunView, now: float, params: Params) -> bool:
    """Whether scoring, which takes `now` seconds, is a small part of the time of a step."""
    step = view.get("time/step")
    return step is not None and len(step) > 0 and now < params.share * median(step.value[-params.rows :])
