"""The rule `entropy-collapse`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import rises
from firstbreak.series import Floats
from firstbreak.stats import compare, median, persistent_onset
from firstbreak.stats.level import level, opening
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `entropy-collapse`: engineering defaults, except where a source is named."""

    floor_frac: float = 0.1
    """Share of the reference entropy (log of the number of actions, else the run's opening) under which the policy is
    nearly deterministic. Engineering default; for two actions it means the likelier one is taken in 99 % of
    states."""
    dead_frac: float = 0.05
    """Share under which, with the return far below its best, premature convergence is near-certain. Engineering
    default."""
    points: int = 5
    """Consecutive newest points below the floor."""
    shortfall: float = 0.5
    """How far the recent return must lie below the best, as a share of the return's range."""
    seen: int = 2
    """Row after which the fall must lie for an error: entropy that is gone within the first updates fell to a step far
    too large, which is another link."""
    clear: float = 3.0
    """Standard errors by which the recent stretch must lie below the best one: of noisy returns the best single row is
    mostly luck, and half a range below it is where a level return lies. Engineering default."""
    at_best: float = 0.1
    """A return within this share of its range of the best has converged, however little it moved: it is not stuck."""


PPO = synth.like("PPO")
COLLAPSE = {"policy/entropy": synth.geometric(0.69, 0.005, 0.05, until=0.4)}
FALLEN = synth.after(0.5, synth.flat(25.0, 0.05), synth.ramp(20, 200, 0.03, until=0.5))

RETURNS = ("reward/episode_return_mean", "reward/raw_episode_return", "reward/episode_return", "reward/step_mean")

GAUSSIAN_NATS = 1.4189
"""Entropy of a unit Gaussian in one dimension: the start of most continuous policies."""

CASES = (
    fires("collapse while the return falls back", lambda: PPO(COLLAPSE | {"reward/episode_return_mean": FALLEN})),
    fires(
        "collapse and the return never moved",
        lambda: PPO(COLLAPSE | {"reward/episode_return_mean": synth.flat(22, 0.05)}),
    ),
    healthy("entropy falls slowly", lambda: PPO({})),
    near_miss("deterministic at the best return", lambda: PPO(COLLAPSE)),
    near_miss(
        "deterministic at the best return, reached within a few rows",
        lambda: PPO(COLLAPSE | {"reward/episode_return_mean": synth.ramp(-20, -8.7, 0.002, until=0.05)}),
    ),
    near_miss(
        "deterministic at a return that rose and is half luck",
        lambda: PPO(COLLAPSE | {"reward/episode_return_mean": synth.ramp(8.0, 10.0, 0.15, until=0.2)}),
    ),
    near_miss("continuous policy below 0 nats", lambda: PPO({"policy/entropy": synth.ramp(1.4, -2.0)})),
)


@rule(
    "EXP001",
    "entropy-collapse",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=("policy/entropy",),
    when=("control",),
    min_points=10,
    params=Params(),
    cases=CASES,
    implies=("policy-frozen", "return-collapse", "reward-flat", "grad-norm-zero"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The policy has become nearly deterministic although its return is poor.

    What it means:
        Entropy stays below a tenth of its reference while the return is far below its best or has never moved.

    Why it matters:
        A deterministic policy meets no new states and cannot find its way out by sampling.

    Usual causes:
        Too large policy steps; advantages on a huge scale; no entropy bonus; a reward that pays one action early.

    What to try:
        Look at KL per update first. Then lower the learning rate or raise the entropy bonus, from a checkpoint before
        the fall.

    When it is harmless:
        At the best return, with nothing left to gain: a solved task ends deterministic. Differential entropy of
        continuous policies may be negative; `action-std-collapse` looks at those.

    References:
        Mnih et al. 2016, arXiv 1602.01783, section 4 (entropy bonus). Ahmed et al. 2019, arXiv 1811.11214.
    """
    entropy = view.get("policy/entropy")
    assert entropy is not None
    reference = _reference(view, entropy)
    if reference is None:
        return Skip(
            "a share of entropy is undefined for continuous or unknown actions",
            ("policy/action_std", "config action_space"),
        )
    low = entropy.value <= params.floor_frac * reference
    if not bool(low[-params.points :].all()):
        return None
    returns = view.get(*RETURNS)
    if returns is None or len(returns) < 8:
        return Skip("low entropy is only a fault when the return is poor", RETURNS[:1])
    stand = level(returns.value)
    stuck = abs(compare(returns.value[:8], returns.value[-8:]).z) < 2 and len(returns) >= 20 and not rises(returns)
    poor = stand.shortfall >= params.shortfall and _below_best(returns.value) >= params.clear
    if stand.rising or stand.shortfall < params.at_best or not (poor or stuck):
        return None
    onset = persistent_onset(entropy.step, low, params.points)
    assert onset is not None
    share = entropy.last / reference
    seen = onset[1] > entropy.step[min(params.seen, len(entropy) - 1)] and not _fell_first(returns, onset[0], params)
    dead = share <= params.dead_frac and len(entropy) >= 20 and seen
    return Detection(
        message=f"Entropy is {share:.1%} of its reference; return {stand.recent:.4g}, best {stand.best:.4g}",
        onset=view.onset(*onset),
        metric=entropy.metric,
        evidence={
            "entropy_nats": entropy.last,
            "reference_nats": reference,
            "return": stand.recent,
            "best": stand.best,
        },
        severity=Severity.ERROR if dead else None,
    )


def _below_best(returns: Floats) -> float:
    """Standard errors by which the recent stretch of returns [n] lies below the best stretch of that length."""
    width = max(8, returns.size // 8)
    means = np.convolve(returns, np.ones(width) / width, mode="valid")
    best = int(means.argmax())
    return -compare(returns[best : best + width], returns[-width:]).z


def _fell_first(returns: Points, onset: float, params: Params) -> bool:
    """Whether the return had risen and was lost again before the entropy fell: the collapse then only followed."""
    before = returns.value[returns.step <= onset]
    if before.size < 2 * params.points:
        return False
    best = int(np.argmax(before))
    low, high = float(before[: best + 1].min()), float(before[best])
    lost = high - median(before[-3:]) >= params.shortfall * (high - low)
    return lost and best >= params.points and high - low >= params.shortfall * float(np.ptp(returns.value))


def _reference(view: RunView, entropy: Points) -> float | None:
    """Entropy of the uniform policy if known, else the opening; None where ratios of entropy mean nothing."""
    actions = view.number("n_actions")
    if actions is not None and actions >= 2:
        return float(np.log(actions))
    if view.config("action_space") == "continuous" or entropy.min < 0:
        return None
    if view.has("policy/action_std") or view.has("sac/alpha"):
        return None
    start = opening(entropy.value, 3)
    if view.config("action_space") == "discrete":
        return start if start > 0 else None
    dimensions = start / GAUSSIAN_NATS
    gaussian = dimensions > 0.5 and abs(dimensions - round(dimensions)) < 0.015 * dimensions
    return None if gaussian or start <= 0 else start
