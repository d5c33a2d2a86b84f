"""The rule `reward-std-collapse`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.environment_data.prompts_lengthened import unless_harder
from firstbreak.stats import persistent_onset
from firstbreak.stats.level import level
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-std-collapse`: engineering defaults, except where a source is named."""

    floor_frac: float = 0.1
    """Reward spread over the mean of its first ten points: the early stop of RAGEN (arXiv 2504.20073) uses these
    numbers."""
    points: int = 10
    """Consecutive newest points below it."""
    shortfall: float = 0.25
    """Distance of the recent reward from the best that excludes "solved"."""


GRPO = synth.like("GRPO")
VANISH = synth.geometric(0.3, 0.001, 0.05, until=0.6)
FALLEN = synth.after(0.5, synth.flat(0.05, 0.1), synth.ramp(0.1, 0.6, 0.03, until=0.5))

REWARDS = ("reward/train_mean", "reward/rollout_mean", "reward/final_mean")

CASES = (
    fires("spread gone, reward low", lambda: GRPO({"group/reward_std_mean": VANISH, "reward/train_mean": FALLEN})),
    healthy("steady spread", lambda: GRPO({"group/reward_std_mean": synth.flat(0.3, 0.05)})),
    near_miss("spread gone because solved", lambda: GRPO({"group/reward_std_mean": VANISH})),
)


@rule(
    "EXP016",
    "reward-std-collapse",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    any_of=(
        ("group/reward_std_mean", "reward/train_std"),
        ("reward/train_mean", "reward/rollout_mean", "reward/final_mean"),
    ),
    when=("language",),
    min_points=20,
    params=Params(),
    cases=CASES,
    implies=("zero-std-groups", "grad-norm-zero", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Rewards of one prompt no longer differ, and the level is poor.

    What it means:
        The spread of the reward has stayed below a tenth of its opening for ten points, far from the best reward.

    Why it matters:
        Spread is the signal of group methods; it dies before the mean reward does.

    Usual causes:
        Templated answers (echo trap); prompts out of reach; a scorer that gives one value.

    What to try:
        Keep prompts with spread; look at ten groups of responses; go back to before the fall.

    When it is harmless:
        At the ceiling: solved prompts have no spread.

    References:
        Wang et al. 2025 (RAGEN), arXiv 2504.20073, section 4.
    """
    std, reward = view.get("group/reward_std_mean", "reward/train_std"), view.get(*REWARDS)
    assert std is not None
    assert reward is not None
    if min(len(std), len(reward)) < 20:
        return Skip("needs 20 points of reward and its spread", ("more points",))
    start = float(std.value[:10].mean())
    low = std.value <= params.floor_frac * start
    if start <= 0 or not bool(low[-params.points :].all()):
        return None
    stand = level(reward.value)
    if stand.rising or not stand.shortfall > params.shortfall:
        return None
    onset = persistent_onset(std.step, low, params.points)
    assert onset is not None
    return unless_harder(
        view,
        Detection(
            message=(
                f"Reward spread fell to {std.last / start:.1%} of its opening"
                f"; reward {stand.recent:.3g}, best {stand.best:.3g}"
            ),
            onset=view.onset(*onset),
            metric=std.metric,
            evidence={"spread": std.last, "opening": start, "reward": stand.recent, "best": stand.best},
        ),
    )
