"""The rule `alpha-collapse`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset, rank_correlation
from firstbreak.stats.level import level, opening
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `alpha-collapse`: engineering defaults, except where a source is named."""

    floor_frac: float = 1e-3
    """Temperature over its opening that counts as gone. Engineering default."""
    margin_nats: float = 0.5
    """How far entropy must lie below its target before a falling temperature is called wrong."""
    points: int = 8
    """Consecutive points for either sign."""
    shortfall: float = 0.5
    """Distance of the recent return from the best that counts as poor."""
    of_reward: float = 0.01
    """Share of a step's reward that the entropy bonus may weigh and still count: where rewards are small, the
    temperature that fits them is, too."""


SAC = synth.like("SAC")
BARE = synth.like("SAC", drop=("policy/entropy",))
FALLEN = synth.after(0.5, synth.flat(25.0, 0.05), synth.ramp(20, 200, 0.03, until=0.5))

RETURNS = ("reward/episode_return_mean", "reward/raw_episode_return", "reward/episode_return", "reward/step_mean")

CASES = (
    fires(
        "falls though entropy is below target",
        lambda: SAC(
            {
                "sac/target_entropy": synth.constant(-1.0),
                "policy/entropy": synth.ramp(0.5, -6.0),
                "sac/alpha": synth.geometric(0.8, 0.01, 0.02),
            }
        ),
    ),
    fires(
        "gone while the return is poor",
        lambda: BARE({"sac/alpha": synth.geometric(0.8, 1e-6, 0.02), "reward/episode_return_mean": FALLEN}),
    ),
    fires("0 from the start", lambda: BARE({"sac/alpha": synth.constant(0.0)})),
    healthy("falls as it learns", lambda: SAC({})),
    near_miss(
        "rewards are as small",
        lambda: BARE(
            {"sac/alpha": synth.geometric(0.8, 6e-4, 0.02), "reward/episode_return_mean": FALLEN}
            | {"reward/step_mean": synth.flat(-0.015, 0.05)}
        ),
    ),
    near_miss("gone at the best return", lambda: BARE({"sac/alpha": synth.geometric(0.8, 1e-6, 0.02)})),
)


@rule(
    "EXP008",
    "alpha-collapse",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs=("sac/alpha",),
    when=("max_entropy",),
    min_points=8,
    params=Params(),
    cases=CASES,
    implies=("action-saturation", "entropy-collapse", "return-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """SAC's temperature has vanished, or falls although entropy is already below its target.

    What it means:
        Without a temperature nothing keeps the policy random; a fall below the target is the wrong direction.

    Why it matters:
        A squashed policy then drifts into saturation, its log-probabilities leave the number range.

    Usual causes:
        Wrong sign or missing detach in the temperature's loss; a target far below what the policy does; tiny reward
        scale.

    What to try:
        Move the target and see whether the temperature answers in the right direction; check the loss's sign.

    When it is harmless:
        When the return is at its best: the constraint is slack and the temperature not needed.

    References:
        Haarnoja et al. 2018, arXiv 1812.05905, section 5.
    """
    alpha = view.get("sac/alpha")
    assert alpha is not None
    wrong = _wrong_way(view, alpha, params)
    if wrong is not None:
        return wrong
    if alpha.max == 0:
        return Detection(
            message=f"Alpha is 0 on all {len(alpha)} points: nothing keeps the policy random",
            onset=view.onset(float(alpha.step[0])),
            metric=alpha.metric,
            evidence={"alpha": 0.0, "points": len(alpha)},
        )
    start, returns = opening(alpha.value, 3), view.get(*RETURNS)
    gone = alpha.value <= params.floor_frac * start
    if start <= 0 or returns is None or not bool(gone[-params.points :].all()):
        return None
    stand = level(returns.value)
    if stand.rising or not stand.shortfall >= params.shortfall or weighs(view, alpha.last, params):
        return None
    onset = persistent_onset(alpha.step, gone, params.points)
    assert onset is not None
    return Detection(
        message=(
            f"Alpha fell to {alpha.last:.3g} ({alpha.last / start:.1g} of its start); return {stand.recent:.4g} is poor"
        ),
        onset=view.onset(*onset),
        metric=alpha.metric,
        evidence={"alpha": alpha.last, "start": start, "return": stand.recent, "best": stand.best},
    )


def weighs(view: RunView, alpha: float, params: Params) -> bool:
    """Whether the bonus for a nat of entropy still is a part of what one step earns, as far as that is known."""
    reward = view.get("reward/step_mean", "reward/env_mean")
    if reward is None or not len(reward):
        return False
    return alpha * max(abs(_target(view) or 0.0), 1.0) >= params.of_reward * median(np.abs(reward.value)) > 0


def _wrong_way(view: RunView, alpha: Points, params: Params) -> Detection | None:
    """Say so where the temperature falls although entropy lies below its target."""
    target, entropy = _target(view), view.get("policy/entropy")
    half = alpha.value[-max(params.points, len(alpha) // 2) :]
    falling = rank_correlation(np.arange(half.size, dtype=np.float64), half) <= -0.8
    if target is not None and entropy is not None and len(entropy) >= params.points and falling:
        below = entropy.value <= target - params.margin_nats
        if bool(below[-max(params.points, len(entropy) // 4) :].all()):
            onset = persistent_onset(entropy.step, below, params.points)
            assert onset is not None
            return Detection(
                message=(
                    f"Alpha falls to {alpha.last:.3g}"
                    f" though entropy {entropy.last:.3g} is below its target {target:.3g} nats"
                ),
                onset=view.onset(*onset),
                metric=alpha.metric,
                evidence={"alpha": alpha.last, "entropy_nats": entropy.last, "target_nats": target},
                severity=Severity.ERROR,
            )
    return None


def _target(view: RunView) -> float | None:
    """The entropy target in nats: logged, configured, or None."""
    logged = view.get("sac/target_entropy")
    return logged.last if logged is not None and len(logged) else view.number("target_entropy")
