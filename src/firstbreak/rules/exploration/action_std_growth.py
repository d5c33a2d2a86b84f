"""The rule `action-std-growth`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import linear_trend, median, persistent_onset, safe_log
from firstbreak.stats.level import level, opening
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `action-std-growth`: engineering defaults, except where a source is named."""

    factor: float = 3.0
    """Newest standard deviation over the opening. Engineering default."""
    z: float = 4.0
    """z of the slope of its logarithm."""


PPO = synth.like("PPO")
FALLEN = synth.after(0.5, synth.flat(25.0, 0.05), synth.ramp(20, 200, 0.03, until=0.5))

RETURNS = ("reward/episode_return_mean", "reward/raw_episode_return", "reward/episode_return", "reward/step_mean")

CASES = (
    fires(
        "std grows tenfold",
        lambda: PPO({"policy/action_std": synth.geometric(0.6, 6.0), "reward/episode_return_mean": FALLEN}),
    ),
    healthy("std shrinks", lambda: PPO({"policy/action_std": synth.geometric(1.0, 0.5)})),
    near_miss(
        "std grows while the return rises",
        lambda: PPO(
            {"policy/action_std": synth.geometric(0.6, 6.0), "reward/episode_return_mean": synth.ramp(20, 400, 0.03)}
        ),
    ),
)


@rule(
    "EXP006",
    "action-std-growth",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    any_of=(("policy/action_std", "policy/action_std_max"),),
    when=("control",),
    min_points=20,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("action-saturation", "return-collapse", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The continuous policy's spread grows and grows without a better return.

    What it means:
        The standard deviation has tripled along a clear trend while the return does not rise.

    Why it matters:
        Actions become noise clipped at their bounds, and every mean action looks equally good.

    Usual causes:
        Entropy bonus too large; actions clipped after sampling, so that spread costs nothing; no advantage signal.

    What to try:
        Set the entropy coefficient to 0 for a short run; use a squashed policy or bound the standard deviation.

    When it is harmless:
        Where a small start was chosen on purpose and the return rises.

    References:
        Chou et al. 2017, ICML (Gaussian policies and bounded actions).
    """
    std, returns = view.get("policy/action_std", "policy/action_std_max"), view.get(*RETURNS)
    assert std is not None
    start = opening(std.value)
    trend = linear_trend(std.step, safe_log(std.value))
    recent = median(std.value[-5:])
    if start <= 0 or recent < params.factor * start or trend.z < params.z:
        return None
    if returns is None or len(returns) < 16:
        return Skip("growth is only a fault when the return does not rise", RETURNS[:1])
    stand = level(returns.value)
    if stand.rising or stand.shortfall <= 0.1:
        return None
    over = persistent_onset(std.step, std.value >= params.factor * start, 3)
    assert over is not None
    return Detection(
        message=(
            f"Action std grew {recent / start:.3g}-fold to {recent:.3g}"
            f"; return {stand.recent:.4g}, best {stand.best:.4g}"
        ),
        onset=view.onset(float(std.step[0]), over[1]),
        metric=std.metric,
        evidence={"std": recent, "opening": start, "return": stand.recent},
    )
