"""The rule `action-std-collapse`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.stats.level import level, opening
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `action-std-collapse`: engineering defaults, except where a source is named."""

    full: float = 1.0
    """Opening from which on it counts as this, in units of a normalised action range: a spread beyond the bounds plays
    the same actions. The pre-squash spread of a SAC actor began at 6.5 and worked at 0.2 (healthy run of the tenth
    draw)."""
    floor_frac: float = 0.1
    """Policy standard deviation over its opening. A tenth of the start explores a tenth of the range. Engineering
    default."""
    dead_frac: float = 0.02
    """Share under which, with the return far below its best, the collapse is near-certain."""
    tiny: float = 0.02
    """Standard deviation that is too small from the first row on, in units of a normalised action range; usual starts
    are 0.1 to 1."""
    points: int = 5
    """Consecutive newest points below the floor."""
    shortfall: float = 0.25
    """Least distance of the recent return from the best, as a share of its range."""


PPO = synth.like("PPO")
WIDE = synth.like("PPO", config={"action_space": "continuous", "action_dim": 6})
SHRINK = synth.geometric(1.0, 0.005, 0.05, until=0.5)
FALLEN = synth.after(0.5, synth.flat(25.0, 0.05), synth.ramp(20, 200, 0.03, until=0.5))

RETURNS = ("reward/episode_return_mean", "reward/raw_episode_return", "reward/episode_return", "reward/step_mean")

CASES = (
    fires(
        "tiny from the start",
        lambda: PPO({"policy/action_std": synth.constant(0.0067), "reward/episode_return_mean": synth.walk(-1200, 20)}),
    ),
    fires("std gone, return fallen", lambda: PPO({"policy/action_std": SHRINK, "reward/episode_return_mean": FALLEN})),
    fires(
        "entropy per dimension gone",
        lambda: WIDE({"policy/entropy": synth.ramp(8.5, -12.0), "reward/episode_return_mean": FALLEN}),
    ),
    healthy("std halves", lambda: PPO({"policy/action_std": synth.geometric(1.0, 0.5)})),
    near_miss(
        "a spread far beyond the bounds comes down to a usual one",
        lambda: PPO({"policy/action_std": synth.geometric(6.5, 0.2, 0.1, until=0.3), RETURNS[0]: FALLEN}),
    ),
    near_miss("std gone at the best return", lambda: PPO({"policy/action_std": SHRINK})),
)


@rule(
    "EXP005",
    "action-std-collapse",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    any_of=(("policy/action_std", "policy/action_std_min", "policy/entropy"),),
    when=("control",),
    min_points=10,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("return-collapse", "policy-frozen", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The continuous policy's spread has vanished although its return is poor.

    What it means:
        The standard deviation (or the entropy per dimension) is below a tenth of its opening while the return is not.

    Why it matters:
        The policy no longer tries other actions, and log-probabilities become steep: tiny shifts make huge ratios.

    Usual causes:
        Observation normalisation or reward scale changed the step size; no entropy bonus; advantages too large.

    What to try:
        Look at KL per update; put a lower bound on the standard deviation; raise the entropy bonus.

    When it is harmless:
        At the best return: a solved control task often ends nearly deterministic.

    References:
        Andrychowicz et al. 2021, arXiv 2006.05990, section 3.2 (initial standard deviation).
    """
    spread = view.get("policy/action_std", "policy/action_std_min")
    if spread is not None:
        points, share = spread, spread.value / min(max(opening(spread.value), 1e-300), params.full)
    else:
        entropy, dimensions = view.get("policy/entropy"), view.number("action_dim")
        if entropy is None or not dimensions or dimensions < 1 or view.config("action_space") == "discrete":
            return Skip("the policy's standard deviation is not known", ("policy/action_std", "config action_dim"))
        points, share = entropy, np.exp((entropy.value - opening(entropy.value)) / dimensions)
    tiny = spread is not None and spread.max <= params.tiny and len(spread) >= 20
    low = (share <= params.floor_frac) | tiny
    if not bool(low[-params.points :].all()) or len(points) < 10:
        return None
    returns = view.get(*RETURNS)
    if returns is None or len(returns) < 8:
        return Skip("a small spread is only a fault when the return is poor", RETURNS[:1])
    stand = level(returns.value)
    if stand.rising or not stand.shortfall > params.shortfall:
        return None
    onset = persistent_onset(points.step, low, params.points)
    assert onset is not None
    return Detection(
        message=(
            f"Action spread is {points.last:.3g}, {share[-1]:.1%} of its opening"
            f"; return {stand.recent:.4g}, best {stand.best:.4g}"
        ),
        onset=view.onset(*onset),
        metric=points.metric,
        evidence={"share_frac": float(share[-1]), "return": stand.recent, "best": stand.best},
        severity=Severity.ERROR if share[-1] <= params.dead_frac and stand.shortfall >= 0.5 else None,
    )
