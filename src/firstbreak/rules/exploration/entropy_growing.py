"""The rule `entropy-growing`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import compare, linear_trend
from firstbreak.stats.level import level
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `entropy-growing`: engineering defaults, except where a source is named."""

    factor: float = 1.25
    """End of the fitted line over its start. Engineering default."""
    least_nats: float = 0.1
    """Smallest rise in nats worth a word."""
    z: float = 4.0
    """Both the slope and the last quarter against the first must reach this."""
    shortfall: float = 0.25
    """A reward within this share of its range from the best excuses the growth."""


GRPO = synth.like("GRPO")

REWARDS = (
    "reward/train_mean",
    "reward/rollout_mean",
    "reward/episode_return_mean",
    "reward/raw_episode_return",
    "reward/episode_return",
)

CASES = (
    fires(
        "entropy doubles, reward falls",
        lambda: GRPO({"policy/entropy": synth.ramp(1.0, 2.2), "reward/train_mean": synth.ramp(0.6, 0.3)}),
    ),
    healthy("entropy falls", lambda: GRPO({})),
    near_miss("entropy grows while the reward rises", lambda: GRPO({"policy/entropy": synth.ramp(1.0, 1.8)})),
)


@rule(
    "EXP004",
    "entropy-growing",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=("policy/entropy",),
    when=("policy_gradient",),
    min_points=30,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("return-collapse", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The policy becomes steadily more random without its reward rising.

    What it means:
        Entropy has grown by a quarter or more along a clear trend, while the reward is below its best and not rising.

    Why it matters:
        Learned behaviour is being diluted; in language models gibberish and mixed languages follow.

    Usual causes:
        Entropy bonus too large; upper clip range too wide; gradients from noise; off-policy samples.

    What to try:
        Run briefly with the entropy bonus at 0 and the clip range symmetric; see which one stops the growth.

    When it is harmless:
        After a sharp early fall, when the reward still climbs. SAC steers its entropy on purpose and is not judged.

    References:
        Yu et al. 2025 (DAPO), arXiv 2503.14476, section 3.1 (clip higher raises entropy).
    """
    entropy, reward = view.get("policy/entropy"), view.get(*REWARDS)
    assert entropy is not None
    if view.has("sac/alpha"):
        return Skip("the temperature steers this entropy; see the alpha rules")
    trend = linear_trend(entropy.step, entropy.value)
    quarter = max(8, len(entropy) // 4)
    if (
        trend.change < params.least_nats
        or min(trend.z, compare(entropy.value[:quarter], entropy.value[-quarter:]).z) < params.z
    ):
        return None
    if trend.start > 0 and trend.end < params.factor * trend.start:
        return None
    if trend.start <= 0 and trend.change < 1.0:
        return None
    if reward is None or len(reward) < 16:
        return Skip("growth is only a fault when the reward does not rise", REWARDS[:1])
    stand = level(reward.value)
    if stand.rising or stand.shortfall <= params.shortfall:
        return None
    return Detection(
        message=(
            f"Entropy grew from {trend.start:.3g} to {trend.end:.3g} nats"
            f"; reward {stand.recent:.3g}, best {stand.best:.3g}"
        ),
        onset=view.onset(float(entropy.step[0]), float(entropy.step[len(entropy) // 2])),
        metric=entropy.metric,
        evidence={"start_nats": trend.start, "end_nats": trend.end, "z": trend.z, "reward": stand.recent},
    )
