"""The rule `entropy-stuck-high`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import compare, linear_trend
from firstbreak.stats.level import opening
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `entropy-stuck-high`: engineering defaults, except where a source is named."""

    share: float = 0.97
    """Share of the uniform policy's entropy (else of the opening) that never goes below: the policy is as random as
    at the start. Engineering default."""
    untouched: float = 0.99
    """The same share in a run too short for a trend: at its end it is not called healthy."""
    points: int = 50
    """Logged points that a trend of the return needs."""
    progress: float = 0.3
    """Share of the planned steps that must have passed, where the plan is known. Engineering default."""
    flat_z: float = 2.0
    """The return counts as flat below this z of its last third against its first."""


PPO = synth.like("PPO")

RETURNS = ("reward/episode_return_mean", "reward/raw_episode_return", "reward/episode_return", "reward/step_mean")

SHORT = 8
"""A log with fewer rows than this can only be judged as a whole, once it has ended."""

CASES = (
    fires(
        "random walk",
        lambda: PPO({"policy/entropy": synth.flat(0.69, 0.003), "reward/episode_return_mean": synth.flat(22, 0.05)}),
    ),
    healthy("entropy falls as it learns", lambda: PPO({})),
    near_miss("entropy high but the return rises", lambda: PPO({"policy/entropy": synth.flat(0.69, 0.003)})),
)


@rule(
    "EXP003",
    "entropy-stuck-high",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=("policy/entropy",),
    any_of=(("reward/episode_return_mean", "reward/raw_episode_return", "reward/episode_return", "reward/step_mean"),),
    when=("control",),
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("reward-flat", "policy-frozen"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The policy is still as random as at the start, and the return has not moved.

    What it means:
        Entropy has stayed within 3 % of that of a uniform policy (or of its opening) although enough updates were
        made.

    Why it matters:
        No preference between actions is forming: either no usable advantage reaches the policy or a bonus outweighs
        it.

    Usual causes:
        Reward too sparse; entropy bonus too large; learning rate too low; noisy advantages.

    What to try:
        Check that the reward tells behaviours apart, then the spread of the advantages, then the entropy coefficient.

    When it is harmless:
        Early in a run, or for policies whose spread is fixed by design.

    References:
        Andrychowicz et al. 2021, arXiv 2006.05990, section 3.8.
    """
    entropy, returns = view.get("policy/entropy"), view.get(*RETURNS)
    assert entropy is not None
    assert returns is not None
    actions = view.number("n_actions")
    whole = len(entropy.source) < SHORT and view.log.state != "running"
    if actions is None and (
        view.config("action_space") == "continuous" or entropy.min <= 0 or view.has("policy/action_std")
    ):
        return Skip("entropy of a continuous policy has no upper reference", ("policy/action_std", "config n_actions"))
    planned = view.number("total_steps")
    if whole and (actions is None or planned is None or len(returns) < 3 or view.hi < view.log.last_step):
        return Skip("too few points to call the return flat", ("config n_actions", "config total_steps", "more points"))
    if not whole and min(len(entropy), len(returns)) < params.points:
        over = view.hi == float("inf") and view.log.state not in ("running", "stalled") and len(entropy) >= SHORT
        random = actions is not None and actions >= 2 and entropy.min >= params.untouched * np.log(actions)
        reason = f"needs {params.points} points of entropy and return"
        return Skip(reason, ("more points",), withholds=bool(over and random))
    reference = float(np.log(actions)) if actions is not None and actions >= 2 else opening(entropy.value)
    if reference <= 0 or entropy.min < params.share * reference or (entropy.max == entropy.min and not whole):
        return None
    if planned and view.clock == "env_steps" and entropy.step[-1] < params.progress * planned:
        return None
    falling = linear_trend(entropy.step, entropy.value).z < -3
    if falling or not _flat(returns.value, params.flat_z):
        return None
    share = entropy.last / reference
    return Detection(
        message=(
            f"Entropy still {share:.1%} of its reference after {len(entropy)} points; return flat at {returns.last:.4g}"
        ),
        onset=view.onset(float(entropy.step[0]), float(entropy.step[-1])),
        metric=entropy.metric,
        evidence={"share_frac": share, "reference_nats": reference, "return": returns.last},
    )


def _flat(value: Floats, limit: float) -> bool:
    """Whether the end of `value` [n] does not lie above its start."""
    third = value.size // 3
    if third < 8:
        return bool(value[-1] <= value[: max(third, 1)].max())
    rise = compare(value[:third], value[-third:]).z
    return rise < limit and linear_trend(np.arange(value.size, dtype=np.float64), value).z < limit
