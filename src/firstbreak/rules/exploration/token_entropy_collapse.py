"""The rule `token-entropy-collapse`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.environment_data.prompts_lengthened import unless_harder
from firstbreak.stats import median, persistent_onset
from firstbreak.stats.level import level, opening
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `token-entropy-collapse`: engineering defaults, except where a source is named."""

    floor_frac: float = 0.15
    """Share of the opening token entropy. Cui et al. 2025 (arXiv 2505.22617) see reward saturate once entropy is used
    up; 10 to 20 % of the start is the usual alarm."""
    dead_frac: float = 0.05
    """Share under which, with the reward far below its best, the collapse is certain enough for an error. Engineering
    default."""
    points: int = 5
    """Consecutive newest points below the floor."""
    shortfall: float = 0.25
    """Least distance of the recent reward from the best, as a share of the reward's range."""
    luck: float = 0.15
    """A recent batch within this share of the range from the best means that the reward has not fallen."""
    low: float = 0.7
    """Share of a known largest reward below which a plateau counts as low all the same."""
    far: float = 0.4
    """Distance from the best that counts as far below the ceiling."""


GRPO = synth.like("GRPO")
GONE = synth.geometric(1.2, 0.01, 0.05, until=0.5)
FALLEN = synth.after(0.5, synth.flat(0.05, 0.1), synth.ramp(0.1, 0.6, 0.03, until=0.5))

REWARDS = ("reward/train_mean", "reward/rollout_mean", "reward/final_mean")

CASES = (
    fires(
        "entropy gone, reward back at the bottom", lambda: GRPO({"policy/entropy": GONE, "reward/train_mean": FALLEN})
    ),
    healthy("entropy halves while learning", lambda: GRPO({})),
    near_miss("solved: entropy gone, reward at its ceiling", lambda: GRPO({"policy/entropy": GONE})),
    near_miss(
        "entropy gone, reward still rising",
        lambda: GRPO({"policy/entropy": GONE, "reward/train_mean": synth.ramp(0.1, 0.9, 0.03)}),
    ),
)


@rule(
    "EXP002",
    "token-entropy-collapse",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=("policy/entropy",),
    any_of=(("reward/train_mean", "reward/rollout_mean", "reward/final_mean"),),
    when=("language",),
    min_points=10,
    params=Params(),
    cases=CASES,
    implies=("zero-std-groups", "grad-norm-zero", "reward-std-collapse", "reward-flat", "response-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Token entropy is used up, and the reward has stopped well below the best it has been.

    What it means:
        Entropy stays below 15 % of its opening while the recent reward is neither rising nor near its ceiling.

    Why it matters:
        Responses to one prompt become alike, groups fall silent and nothing new is tried.

    Usual causes:
        Learning rate too high; symmetric clipping; too small a batch; a reward that pays one template.

    What to try:
        Go back to before the fall; clip higher; lower the learning rate; compare pass@k at temperature 1.

    When it is harmless:
        When the task is solved: entropy, group spread and gradient all end at 0 with the reward at its ceiling.

    References:
        Cui et al. 2025, arXiv 2505.22617. Yu et al. 2025 (DAPO), arXiv 2503.14476, section 3.1.
    """
    entropy, reward = view.get("policy/entropy"), view.get(*REWARDS)
    assert entropy is not None
    assert reward is not None
    start = opening(entropy.value)
    if start <= 0:
        return Skip("the opening entropy is not positive, so a share of it means nothing")
    low = entropy.value <= params.floor_frac * start
    if not bool(low[-params.points :].all()):
        return None
    stand = level(reward.value)
    top = view.number("reward_max")
    solved = top is not None and stand.recent >= 0.95 * top
    silent = view.get("group/zero_std_fraction")
    blind = silent is not None and len(silent) >= 8 and median(silent.value[-8:]) >= 0.9
    if solved or stand.rising or not stand.shortfall > params.shortfall:
        return None
    # With groups that still differ, a batch as good as the best means a plateau: only a known ceiling shows it is low.
    late = float(reward.value[-max(8, len(reward) // 4) :].max())
    plateau = late >= stand.best - params.luck * (stand.best - stand.worst)
    if plateau and not blind and not (top is not None and stand.recent < params.low * top):
        return None
    onset = persistent_onset(entropy.step, low, params.points)
    assert onset is not None
    share = median(entropy.value[-params.points :]) / start
    certain = stand.shortfall >= params.far and (blind or share <= params.dead_frac)
    return unless_harder(
        view,
        Detection(
            message=f"Token entropy is {share:.1%} of its opening; reward {stand.recent:.3g}, best {stand.best:.3g}",
            onset=view.onset(*onset),
            metric=entropy.metric,
            evidence={"entropy_share_frac": share, "opening_nats": start, "reward": stand.recent, "best": stand.best},
            severity=Severity.ERROR if certain else None,
        ),
    )
