"""The rule `episodes-too-short`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, TRUTH, from_start, rises
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `episodes-too-short`. Engineering defaults where no source is named."""

    steps: float = 10.0
    """Mean length in steps under which an episode gives hardly anything to learn from. Rule of thumb; the unit is
    natural, the number is not, so this is a hint only."""
    points: int = 30
    """Points over which neither length nor return may have risen."""


PPO = synth.like("PPO")
CASES = (
    fires(
        "dies at once for ever",
        lambda: PPO(
            {
                "episode/length_mean": synth.clipped(synth.walk(6, 0.4), 1, 10),
                "reward/episode_return_mean": synth.walk(-3, 0.5),
            }
        ),
    ),
    healthy("episodes grow", lambda: PPO({})),
    near_miss(
        "fixed length of five steps",
        lambda: PPO({"episode/length_mean": synth.constant(5.0), "reward/episode_return_mean": synth.walk(1, 0.1)}),
    ),
    near_miss(
        "reaches the goal ever faster",
        lambda: PPO({"episode/length_mean": synth.clipped(synth.ramp(40, 6, 0.02), 4, 60)}),
    ),
)


@rule(
    "ENV007",
    "episodes-too-short",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.INFO,
    needs=("episode/length_mean",),
    any_of=(TRAIN,),
    when=("control",),
    min_points=30,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Episodes end after a handful of steps, and neither their length nor the return grows.

    What it means:
        The agent fails (or the environment ends) almost at once, in every stretch of the run.

    Why it matters:
        States beyond the first few steps are never visited, so the value of surviving cannot be learned.

    Usual causes:
        Start states too hard; termination conditions too strict; a done flag set wrongly; actions out of scale.

    What to try:
        Run a scripted or zero-action policy and look at why its episodes end.

    When it is harmless:
        Tasks with few steps by design; tasks where short means solved (then the return is high or rises).

    References:
        Gymnasium documentation, `terminated` and `truncated`.
    """
    length, reward = view.get("episode/length_mean"), view.get(*TRAIN)
    assert length is not None
    if reward is None or min(len(length), len(reward)) < params.points or length.max == length.min:
        return None
    limit = view.number("max_episode_steps")
    if length.max >= params.steps or (limit is not None and limit < params.steps):
        return None
    if rises(length) or rises(reward) or any(rises(view.get(n)) for n in TRUTH):
        return None
    return Detection(
        message=f"episodes last {median(length.value):.2g} steps (never {params.steps:.0f}) and nothing improves",
        onset=from_start(view, length),
        metric=length.metric,
        evidence={"length_median_steps": median(length.value), "length_max_steps": length.max},
    )
