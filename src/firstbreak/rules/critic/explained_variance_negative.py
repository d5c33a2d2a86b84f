"""The rule `explained-variance-negative`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import linear_trend, median, persistent_onset
from firstbreak.view import Points, RunView

RETURNS = (
    "reward/episode_return_mean",
    "reward/raw_episode_return",
    "reward/episode_return",
    "reward/train_mean",
    "reward/rollout_mean",
    "reward/step_mean",
)
"""Where a run says how well it does, best measure first."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `explained-variance-negative`; engineering defaults where no source is named."""

    level: float = -0.2
    """Explained variance below which the critic is worse than a constant. 0 is the constant's own score; the margin is
    the scatter of a useless critic on small batches."""
    updates: int = 10
    """Consecutive updates below `level`: single dips follow every change of the policy."""
    warmup: int = 10
    """Updates at the start that are not judged: an untrained critic explains nothing."""
    warmup_share: float = 0.1
    """The same as a share of the planned steps, where they are known."""
    recovery_z: float = 3.0
    """A rise over the run so far by this many standard errors counts as recovery: the critic is still learning."""


PPO = synth.like("PPO")

CASES = (
    fires("worse than a constant for good", lambda: PPO({"critic/explained_variance": synth.flat(-0.8, 0.1)})),
    fires(
        "breaks half-way",
        lambda: PPO({"critic/explained_variance": synth.jump(0.7, -0.9, at=0.5), "critic/loss": synth.jump(20, 90)}),
    ),
    healthy("rises from 0", lambda: PPO({})),
    near_miss(
        "negative only in the first updates", lambda: PPO({"critic/explained_variance": synth.jump(-1, 0.6, 0.1)})
    ),
    near_miss("slow start", lambda: PPO({"critic/explained_variance": synth.ramp(-1.2, 0.7, 0.05)})),
    near_miss(
        "solved: returns no longer vary",
        lambda: PPO(
            {
                "critic/explained_variance": synth.jump(0.8, -0.6, at=0.6),
                "critic/loss": synth.jump(60, 0.03, at=0.6),
                "reward/episode_return_mean": synth.ramp(20, 500, 0.01, until=0.6),
            }
        ),
    ),
)


def rolling_median(values: Floats, width: int) -> Floats:
    """Medians [n - width + 1] of each `width` neighbours of `values` [n]; the whole median [1] when n < width."""
    if values.size < width:
        return np.array([median(values)])
    return np.median(np.lib.stride_tricks.sliding_window_view(values, width), axis=1)


def informative(view: RunView, points: Points, floor: float = 0.05) -> NDArray[np.bool_]:
    """Mask [n] of the rows of `points` at which returns vary enough for an explained variance to mean something.

    A squared error far under its own usual size bounds the variance of the returns from above wherever explained
    variance is not positive, so the row is masked when the loss (or the returns' spread) is under `floor` of its peak.
    """
    keep = np.ones(len(points), dtype=np.bool_)
    for metric in ("return/std", "critic/loss"):
        other = view.get(metric)
        if other is not None and len(other) > 1:
            size = np.abs(other.value)
            keep &= np.interp(points.step, other.step, size) >= floor * float(rolling_median(size, 5).max())
    return keep


def at_best(view: RunView, window: int = 8) -> bool:
    """Whether the run's return is now within a tenth of its own range of the best it ever was."""
    returns = view.get(*RETURNS)
    if returns is None or len(returns) < 2 * window:
        return False
    levels = rolling_median(returns.value, window)
    low, high = float(levels.min()), float(levels.max())
    return high > low and float(levels[-1]) >= high - 0.1 * (high - low)


@rule(
    "CRT001",
    "explained-variance-negative",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    needs=("critic/explained_variance",),
    when=("value_function",),
    min_points=20,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("critic-not-learning", "return-oscillates", "policy-loss-spike"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The value function predicts returns worse than a constant would, and stays that way.

    What it means:
        Explained variance, 1 - Var(G - V) / Var(G), is clearly below 0 for many updates after the start.

    Why it matters:
        Advantages are returns minus values: a critic worse than a constant adds noise to every policy gradient.

    Usual causes:
        Bootstrap or termination mask wrong; returns on a scale the critic cannot follow; value targets of another
        batch; value clipping far below the scale of the returns; critic step too large.

    What to try:
        Freeze the actor and fit the critic alone on one stored batch; if its fit does not rise, the fault is in the
        critic or its targets, not in the policy.

    When it is harmless:
        In the first updates; when returns hardly vary (a solved task), where the ratio is undefined: those rows are
        left out. An offset of all values leaves it at 1, a wrong scale can make it negative at full correlation.

    References:
        Schulman et al. 2016, arXiv 1506.02438, section 6. Huang et al. 2022, "The 37 implementation details of PPO".
    """
    ev = view.get("critic/explained_variance")
    assert ev is not None
    usable = informative(view, ev)
    total = view.number("total_steps") if view.clock == "env_steps" else None
    judged = usable & (np.arange(len(ev)) >= params.warmup) & (ev.step >= params.warmup_share * (total or 0.0))
    onset = persistent_onset(ev.step, judged & (ev.value < params.level), params.updates)
    if onset is None:
        if not usable[-params.updates :].any():
            return Skip("returns hardly vary any more, so explained variance is undefined", ("return/std",))
        return None
    if linear_trend(ev.step, ev.value).z > params.recovery_z:
        return None
    recent = median(ev.value[judged & (ev.step >= onset[1])])
    return Detection(
        message=f"explained variance stays below {params.level:g} (median {recent:.3g} since then)",
        onset=view.onset(*onset),
        metric=ev.metric,
        evidence={"median_since": recent, "level": params.level, "min": ev.min},
    )
