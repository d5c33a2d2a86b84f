"""The rule `q-divergence`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import linear_trend, median, persistent_onset, safe_log
from firstbreak.view import Points, RunView

from .explained_variance_negative import RETURNS

VALUES = ("critic/q_mean", "critic/q2_mean", "critic/q_max", "critic/target_mean", "critic/td_error_mean")
OWN, AIMS = ("critic/value_mean", "critic/q_mean", "critic/q_max"), ("critic/target_max", "critic/target_min")


@dataclass(frozen=True)
class Params:
    """Thresholds of `q-divergence`; engineering defaults where no source is named."""

    decades: float = 3.0
    """Growth over the opening, in powers of ten (of the value; a loss counts half, being a square)."""
    late_decades: float = 1.0
    """Of which at least this much in the later half: divergence accelerates, learning saturates. Engineering
    default."""
    beyond_return: float = 100.0
    """How many times the largest return seen |Q| must be; 1 / (1 - gamma) at the usual gamma of 0.99."""
    blind_decades: float = 6.0
    """Growth asked for where no return is logged."""
    absolute: float = 2.0**24
    """|Q| (or root of the loss) past which float32 cannot add a reward of 1 any more: its 24-bit mantissa ends."""
    certain: float = 1e9
    """The same size as an error although no return is logged to compare with."""
    updates: int = 8
    """Points whose medians are compared."""
    scaled: float = 1e4
    """How many times the size of all logged values and targets the root of a loss must be to be none of theirs: its
    error is at most the sum of both. Of thousands of values one may stand out; their mean then is as large a part of
    it."""


DQN, SAC = synth.like("DQN"), synth.like("SAC")
FLAT = {"reward/episode_return_mean": synth.flat(15, 0.1)}

CASES = (
    fires("Q grows exponentially, return flat", lambda: DQN({"critic/q_mean": synth.geometric(0.5, 5e6), **FLAT})),
    fires(
        "only the loss is logged",
        lambda: DQN(
            {"critic/loss": synth.geometric(0.02, 2e12), **FLAT},
        ),
    ),
    fires("two rows, absurd loss", lambda: synth.run({"critic/loss": synth.constant(1e21)}, n=2, algorithm="SAC")),
    healthy("Q grows with the return", lambda: DQN({})),
    healthy("SAC", lambda: SAC({})),
    near_miss(
        "from near 0 to its level, then flat", lambda: DQN({"critic/q_mean": synth.geometric(0.01, 90, until=0.3)})
    ),
    near_miss(
        "a loss that is scaled up: values and targets are small",
        lambda: synth.like("PPO")(
            {
                "critic/loss": synth.jump(0.5, 1e30, at=0.6, noise=0.1),
                "critic/value_mean": synth.flat(10, 0.1),
                "critic/target_max": synth.flat(20, 0.1),
                "critic/target_min": synth.flat(2, 0.1),
            }
        ),
    ),
    near_miss(
        "large rewards, large Q",
        lambda: DQN({"critic/q_mean": synth.flat(1e9), "reward/episode_return_mean": synth.ramp(1e8, 1e9)}),
    ),
)


def growth(values: Floats, width: int) -> tuple[float, float]:
    """Powers of ten by which |values| [n] grew over the opening and over the middle; medians of `width` points."""
    logs = safe_log(values) / np.log(10)
    middle = values.size // 2
    recent = median(logs[-width:])
    return recent - median(logs[:width]), recent - median(logs[max(middle - width, 0) : middle])


def scaled_up(view: RunView, loss: Points, params: Params) -> bool:
    """Whether values and targets are both logged, and too small to be what a loss is made of."""
    own, aims = ([points for name in names if (points := view.get(name)) is not None] for names in (OWN, AIMS))
    if not any(map(len, own)) or len(aims) < len(AIMS) or not all(map(len, aims)):
        return False
    size = max(float(np.abs(points.value).max()) for points in (*own, *aims) if len(points))
    return float(np.abs(loss.value).max()) ** 0.5 > params.scaled * size


def absurd(view: RunView, points: Points, power: float, params: Params) -> Detection | None:
    """The single-row check: a value that float32 cannot train, unless the returns are of that size too."""
    size = np.abs(points.value) ** (1 / power)
    returns = view.get(*RETURNS)
    scale = max(abs(returns.max), abs(returns.min)) if returns is not None and len(returns) else None
    limit = max(params.absolute, params.beyond_return * scale) if scale is not None else params.absolute
    over = persistent_onset(points.step, size >= limit, 1)
    if over is None:
        return None
    worst = float(size.max())
    sure = scale is not None or worst >= params.certain
    return Detection(
        message=f"critic values or errors of size {worst:.2g}: past what float32 can resolve to 1 ({limit:.2g})",
        onset=view.onset(*over),
        metric=points.metric,
        evidence={"size": worst, "limit": limit},
        severity=None if sure else Severity.WARNING,
    )


def diverging(view: RunView, points: Points, power: float, params: Params) -> Detection | None:
    """The trend check: exponential growth that is still going on and that returns do not explain."""
    width = params.updates
    if len(points) < 4 * width:
        return None
    size = np.abs(points.value) ** (1 / power)
    total, late = growth(size, width)
    returns = view.get(*RETURNS)
    scale = max(abs(returns.max), abs(returns.min)) if returns is not None and len(returns) else 0.0
    wanted = params.decades if scale > 0 else params.blind_decades
    if total < wanted or late < params.late_decades:
        return None
    if scale > 0 and power == 1 and median(size[-width:]) < params.beyond_return * scale:
        return None
    if returns is not None and scale > 0 and total - growth(returns.value, width)[0] < wanted:
        return None
    half = len(points) // 2
    if linear_trend(points.step[half:], safe_log(size[half:])).z < 6:
        return None
    begun = safe_log(size) >= median(safe_log(size[:width])) + np.log(10)
    over = persistent_onset(points.step, begun, width) or (float(points.step[half]), float(points.step[-1]))
    return Detection(
        message=f"critic values grew by {total:.1f} powers of ten ({late:.1f} in the later half) and still grow",
        onset=view.onset(*over),
        metric=points.metric,
        evidence={"decades": total, "late_decades": late, "now": float(size[-1])},
    )


@rule(
    "CRT006",
    "q-divergence",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    any_of=((*VALUES, "critic/loss"),),
    params=Params(),
    cases=CASES,
    implies=("value-loss-explosion", "critic-gradient-explosion", "grad-norm-explosion", "loss-explosion"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The critic's values grow exponentially, or have reached a size that no training can resolve.

    What it means:
        |Q| (or the root of its loss) is powers of ten above its opening and still growing, while the returns are not.

    Why it matters:
        Bootstrapping feeds on its own error: without a cut it ends in overflow, and the policy follows fiction.

    Usual causes:
        Target network without lag or never masked at termination; too many updates per environment step; a runaway
        entropy temperature; learning rate too high; unbounded rewards.

    What to try:
        Evaluate Q at the start states against the returns actually earned; then halve the update ratio.

    When it is harmless:
        When rewards are themselves that large: the returns in the log show it and the rule stays silent.

    References:
        van Hasselt et al. 2018, arXiv 1812.02648. Fujimoto et al. 2018, arXiv 1802.09477. IEEE 754 binary32.
    """
    for metric in (*VALUES, "critic/loss"):
        points = view.get(metric)
        if points is None or len(points) == 0:
            continue
        power = 2.0 if metric == "critic/loss" else 1.0
        if power == 2 and scaled_up(view, points, params):
            continue
        found = absurd(view, points, power, params) or diverging(view, points, power, params)
        if found is not None:
            return found
    return None
