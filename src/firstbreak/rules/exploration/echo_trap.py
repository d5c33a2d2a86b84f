"""The rule `echo-trap`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, Status, fires, healthy, near_miss, rule
from firstbreak.rules.environment_data.prompts_lengthened import unless_harder
from firstbreak.rules.reward_signal import HELD_OUT, rises
from firstbreak.series import Floats
from firstbreak.stats import median, persistent_onset
from firstbreak.stats.level import RECENT
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `echo-trap`: engineering defaults, except where a source is named."""

    std_frac: float = 0.5
    """Spread of the reward over its opening. Wang et al. 2025 (RAGEN, arXiv 2504.20073, section 4.1) see the spread
    fall well before the mean."""
    shortfall: float = 0.35
    """Distance of the recent stretch of the reward from its best, as a share of the range of such stretches.
    Engineering default."""
    z: float = 4.0
    """The same in standard errors of the two means: of some hundred stretches the best lies two above its own level by
    luck. Engineering default."""
    lead: int = 3
    """Rows by which the spread must fall before the reward does. Engineering default."""
    rows: int = 30
    """Rows needed."""


GRPO = synth.like("GRPO")

REWARDS = ("reward/train_mean", "reward/rollout_mean")
SPREADS = ("group/reward_std_mean", "reward/train_std")
EARLY = synth.ramp(0.35, 0.08, 0.03, begin=0.3, until=0.5)
LATE = synth.after(0.55, synth.ramp(1.9, 0.0, 0.03), synth.ramp(0.2, 0.8, 0.03, until=0.5))

CASES = (
    fires("spread falls, then the reward", lambda: GRPO({"group/reward_std_mean": EARLY, "reward/train_mean": LATE})),
    healthy("steady spread", lambda: GRPO({"group/reward_std_mean": synth.flat(0.35, 0.05)})),
    near_miss("spread falls as the task is solved", lambda: GRPO({"group/reward_std_mean": EARLY})),
    near_miss(
        "reward falls first",
        lambda: GRPO(
            {
                "group/reward_std_mean": synth.ramp(0.35, 0.08, 0.03, begin=0.75, until=0.95),
                "reward/train_mean": synth.after(0.45, synth.ramp(1.3, -0.1, 0.03), synth.ramp(0.2, 0.8, 0.03)),
            }
        ),
    ),
)


@rule(
    "EXP020",
    "echo-trap",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    any_of=(SPREADS, REWARDS),
    when=("language",),
    min_points=30,
    across_phases=True,
    implies=("reward-std-collapse", "zero-std-groups", "template-collapse", "return-collapse", "repetition-rising"),
    params=Params(),
    cases=CASES,
    # It decides no first answer of the fault benchmark nor of the five GRPO lists, and alarms on a run that was merely
    # restarted (2026-11-26).
    status=Status.PREVIEW,
)
def detect(view: RunView, params: Params) -> Answer:
    """The spread of the rewards collapsed first, and the reward itself followed.

    What it means:
        Rewards of one prompt became alike while the mean still stood; afterwards the mean fell far below its best.

    Why it matters:
        It is how multi-turn agents fall into repeating themselves: without spread there is no signal to climb out by.

    Usual causes:
        Learning on few prompts for too long; a reward for form; no filter for prompts whose answers all score alike.

    What to try:
        Keep the prompts with the largest spread; more prompts per batch; go back to before the spread fell.

    When it is harmless:
        When the reward stays at its best: then the spread is gone because the task is solved.

    References:
        Wang et al. 2025 (RAGEN), arXiv 2504.20073, section 4.
    """
    std, reward = view.get(*SPREADS), view.get(*REWARDS)
    assert std is not None
    assert reward is not None
    if min(len(std), len(reward)) < params.rows:
        return None
    start = median(std.value[: max(5, len(std) // 10)])
    low = std.value <= params.std_frac * start
    if start <= 0 or not bool(low[-5:].all()) or any(rises(view.get(name)) for name in HELD_OUT):
        return None
    lost = lost_since(reward.value, params.shortfall, params.z)
    since = persistent_onset(std.step, low, 5)
    if lost is None or since is None:
        return None
    peak, best, recent = lost
    fell = persistent_onset(reward.step[peak:], reward.value[peak:] < 0.5 * (best + recent), 5)
    if fell is None or fell[0] < since[1] + params.lead * reward.cadence:
        return None
    return unless_harder(
        view,
        Detection(
            message=(
                f"reward spread fell to {std.last / start:.0%} of its opening, then reward {best:.3g} to {recent:.3g}"
            ),
            onset=view.onset(*since),
            metric=std.metric,
            evidence={
                "spread": std.last,
                "opening": start,
                "reward": recent,
                "best": best,
                "reward_fell": fell[1],
            },
        ),
        at=fell[1],
    )


def lost_since(value: Floats, share: float, z: float) -> tuple[int, float, float] | None:
    """Return the last row of the best stretch, its mean and that of the recent one, where much was lost between them.

    Means of stretches, and by their errors: the best of single batches is mostly luck.
    """
    width = max(RECENT, value.size // 8)
    means = np.convolve(value, np.ones(width) / width, mode="valid")
    best, recent, range_ = int(means.argmax()), float(means[-1]), float(means.max() - means.min())
    drop = float(means[best]) - recent
    error = float(np.sqrt((value[best : best + width].var() + value[-width:].var()) / width))
    if range_ <= 0 or drop < share * range_ or drop < z * error:
        return None
    return best + width - 1, float(means[best]), recent
