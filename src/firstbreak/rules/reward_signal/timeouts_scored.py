"""The rule `timeouts-scored`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import together
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `timeouts-scored`: engineering defaults, except where a source is named."""

    warn: float = 0.02
    """Share of failed scorings at which, in groups of eight, one group in seven holds a wrong score. Engineering
    default."""
    high: float = 0.2
    """Share from which most groups of eight are spoilt. Engineering default."""
    points: int = 5
    """Consecutive newest points."""
    together: float = -0.5
    """Rank correlation of reward and failed share that shows the failures as low scores. Engineering default."""


GRPO = synth.like("GRPO")

FAILED = "reward/timeout_fraction"
REWARDS = ("reward/rollout_mean", "reward/train_mean")

CASES = (
    fires(
        "scorer overloaded from half-way",
        lambda: GRPO({FAILED: synth.jump(0.001, 0.3, at=0.5), "reward/train_mean": synth.jump(0.6, 0.4, at=0.5)}),
    ),
    fires("one in twenty", lambda: GRPO({FAILED: synth.clipped(synth.flat(0.05, 0.2), 0, 1)})),
    healthy("scorer keeps up", lambda: GRPO({FAILED: synth.constant(0.0)})),
    near_miss("a hiccup", lambda: GRPO({FAILED: synth.spikes(0.0, 0.4, at=(0.5,))})),
    near_miss("one in a thousand", lambda: GRPO({FAILED: synth.clipped(synth.flat(0.001, 0.3), 0, 1)})),
)


@rule(
    "RWD025",
    "timeouts-scored",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    needs=(FAILED,),
    min_points=5,
    implies=("default-reward-stuck", "reward-flat", "return-collapse", "reward-std-collapse"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """A noticeable share of the scorings fails or times out.

    What it means:
        Batch after batch more than 2 % of the samples get no score. What they get instead, often 0, is trained on.

    Why it matters:
        A right answer whose check timed out is punished like a wrong one; in a group it turns every advantage.

    Usual causes:
        Too few scoring workers; a time limit near the usual duration; answers that make a checker loop; a failing
        sandbox.

    What to try:
        Mask samples without a score instead of giving 0; raise the limit; score a fixed golden set now.

    When it is harmless:
        When such samples are masked out of the loss and drawn again.

    References:
        Engineering defaults. Yu et al. 2025 (DAPO), arXiv 2503.14476, section 3.4, on noise from wrong penalties.
    """
    failed, reward = view.get(FAILED), view.get(*REWARDS)
    assert failed is not None
    over = failed.value >= params.warn
    if not bool(over[-params.points :].all()):
        return None
    onset = persistent_onset(failed.step, over, params.points)
    assert onset is not None
    recent = median(failed.value[-params.points :])
    pulled = reward is not None and together(failed, reward) <= params.together
    return Detection(
        message=f"{recent:.1%} of the scorings fail or time out"
        + (", and the reward falls with them" if pulled else ""),
        onset=view.onset(*onset),
        metric=FAILED,
        evidence={"failed_frac": recent, "reward_falls_with_it": pulled},
        severity=Severity.ERROR if pulled and recent >= params.high else None,
    )
