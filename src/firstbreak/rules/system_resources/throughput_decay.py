"""The rule `throughput-decay`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import linear_trend, median, rank_correlation, safe_log
from firstbreak.stats.level import opening
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `throughput-decay`: engineering defaults, except where a source is named."""

    factor: float = 3.0
    """Cost of the same work at the end over the start of a line through its logarithm. A neighbour on the same cores
    doubles it. Engineering default."""
    monotone: float = 0.6
    """Rank correlation of cost and time: a decay is steady, an episode of load is not."""


AVERAGED = 1.0
"""An average over n rows moves by a share of 1/n times how far the new row lies from it, seldom its own size."""
WORKED = "time/process_s"
PHASES = ("time/rollout_s", "time/update_s")
GRPO = synth.like("GRPO")
DQN = synth.like("DQN", clock="env_steps", step=500.0, config={"learning_starts": 10_000, "total_steps": 60_000})


def slowing(t: Floats, rng: np.random.Generator) -> Floats:
    """Seconds since the start [n] where each step takes a little longer: five times as long in the end."""
    return 100 * (t + 2 * t**2)


CASES = (
    fires("steps take four times as long", lambda: GRPO({"time/step": synth.ramp(30, 130)})),
    fires("tokens per second fall", lambda: GRPO({"perf/tokens_per_sec": synth.ramp(9000, 2000)})),
    healthy("steady", lambda: GRPO({})),
    near_miss(
        "longer steps for longer responses",
        lambda: GRPO({"time/step": synth.ramp(30, 100), "seq/len_mean": synth.ramp(200, 700)}),
    ),
    near_miss("an average since the start", lambda: DQN({"time/fps": synth.geometric(9000, 2500, 0.0003)})),
    fires("the clock slows down", lambda: DQN({"time/elapsed_s": slowing, "time/env_steps": synth.ramp(0, 6e4, 0.0)})),
    fires(
        "the processor works ever longer for a step",
        lambda: DQN({WORKED: slowing, "time/elapsed_s": slowing, "time/env_steps": synth.ramp(0, 6e4, 0.0)}),
    ),
    near_miss(
        "others come to the machine: the clock goes on, the processor does as much as ever",
        lambda: DQN(
            {
                WORKED: synth.ramp(0, 100, 0.0),
                "time/elapsed_s": slowing,
                "time/env_steps": synth.ramp(0, 6e4, 0.0),
            }
        ),
    ),
    near_miss(
        "an average that falls while every step takes as long",
        lambda: DQN(
            {
                "time/fps": synth.geometric(9000, 1500, 0.05),
                "time/elapsed_s": synth.ramp(0, 600, 0.0),
                "time/env_steps": synth.ramp(0, 6e4, 0.0),
            }
        ),
    ),
    near_miss("learning starts and slows it once", lambda: DQN({"time/fps": synth.jump(9000, 1500, at=0.1)})),
)


@rule(
    "SYS001",
    "throughput-decay",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    severity=Severity.WARNING,
    any_of=(("perf/tokens_per_sec", "time/step", "time/fps", "time/elapsed_s", WORKED),),
    min_points=30,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("samples-dropped",),
)
def detect(view: RunView, params: Params) -> Answer:
    """The same work takes longer and longer.

    What it means:
        Seconds per token (or per step of equal length) have at least trebled along a steady trend.

    Why it matters:
        The rest of the run costs a multiple, and in asynchronous training data grow stale.

    Usual causes:
        Leaking memory; logging or buffers that grow; throttled devices; a full disk or network.

    What to try:
        Time one batch of fixed length now and after a restart; trace the phases of a step.

    When it is harmless:
        Longer responses: they are divided out where lengths are logged. Others on the same machine, where the
        processor's seconds are not logged.

    References:
        Narayanan et al. 2021, arXiv 2104.04473 (throughput accounting).
    """
    cost = _cost(view)
    if isinstance(cost, Skip):
        return cost
    metric, at, value = cost
    found = decays(at, value, params)
    if found is None:
        clock = _by_the_clock(view, "time/elapsed_s") if metric == WORKED else None
        if clock is None or decays(*clock[1:], params) is None:
            return None
        return Skip("steps take longer by the clock, not by the processor: busy machine or waiting", PHASES, True)
    factor, steady = found
    length = view.get("seq/len_mean")
    if (
        length is not None
        and len(length) >= 30
        and linear_trend(length.step, length.value).change < -0.2 * opening(length.value)
    ):
        return Skip("responses grow shorter, so fixed costs weigh more per token", ("time/step at equal length",))
    return Detection(
        message=f"The same work takes {factor:.3g} times as long as at the start ({metric})",
        onset=view.onset(float(at[0]), float(at[at.size // 2])),
        metric=metric,
        evidence={"factor": factor, "steadiness": steady},
    )


def decays(at: Floats, value: Floats, params: Params) -> tuple[float, float] | None:
    """Return by how much the cost `value` [n] at steps `at` [n] grew, and how steadily, where it decays."""
    third = max(8, value.size // 3)
    if value.size < 30:
        return None
    trend = linear_trend(at, safe_log(value))
    factor = float(np.exp(trend.change))
    if factor < params.factor:
        return None
    steady = rank_correlation(np.arange(value.size, dtype=np.float64), value)
    # One lasting step is a change of regime (learning starts, evaluation added), not a decay.
    tail = rank_correlation(np.arange(third, dtype=np.float64), value[-third:])
    return None if min(steady, tail) < params.monotone else (factor, steady)


def _cost(view: RunView) -> tuple[str, Floats, Floats] | Skip:
    """Metric, steps [n], and seconds per unit of work [n] up to a constant: per token, per step of equal length."""
    tokens = view.get("perf/tokens_per_sec")
    if tokens is not None and len(tokens) >= 30 and tokens.min > 0:
        return tokens.metric, tokens.step, 1 / tokens.value
    step, length = view.get("time/step"), view.get("seq/total_len_mean", "seq/len_mean")
    if step is not None and len(step) >= 30:
        if length is not None and len(length) >= 2 and length.min > 0:
            return step.metric, step.step, step.value / np.interp(step.step, length.step, length.value)
        return step.metric, step.step, step.value
    return _by_the_clock(view, WORKED, "time/elapsed_s") or _by_fps(view)


def _by_the_clock(view: RunView, *names: str) -> tuple[str, Floats, Floats] | None:
    """Seconds per environment step [n] between two rows, where both are logged: no average since the start.

    Those of the processor come first: others on the same machine take time from the clock, next to none from them.
    """
    done = view.get("time/env_steps")
    for name in names:
        elapsed = view.get(name)
        if elapsed is None or done is None or len(elapsed) < 31 or len(done) < 2:
            continue
        seconds, work = np.diff(elapsed.value), np.diff(np.interp(elapsed.step, done.step, done.value))
        sound = (seconds > 0) & (work > 0)  # both begin anew after a restart
        if sound.sum() >= 30:
            return elapsed.metric, elapsed.step[1:][sound], seconds[sound] / work[sound]
    return None


def _by_fps(view: RunView) -> tuple[str, Floats, Floats] | Skip:
    """The reciprocal of steps per second [n]."""
    fps = view.get("time/fps")
    if fps is None or len(fps) < 30 or fps.min <= 0:
        return Skip("needs 30 points of throughput", ("time/step", "perf/tokens_per_sec"))
    known = "cumulative" in fps.source.aggregation or view.framework in ("stable_baselines3", "cleanrl")
    if known or _averaged(fps):
        return Skip("this throughput is an average since the start", ("time/step",))
    return fps.metric, fps.step, 1 / fps.value


def _averaged(fps: Points) -> bool:
    """Whether the numbers move like an average since the start: the n-th by about an n-th of a new measurement."""
    rows = fps.step[1:] / np.diff(fps.step)
    moved = np.abs(np.diff(np.log(fps.value))) * rows
    return median(moved[rows.size // 2 :]) < AVERAGED
