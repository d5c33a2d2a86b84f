"""The rule `episodes-at-time-limit`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, TRUTH, from_start, moved, rises
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `episodes-at-time-limit`. Engineering defaults where no source is named."""

    truncated_frac: float = 0.99
    """Share of episodes that end by the time limit."""
    points: int = 30
    """Points over which the return must not have risen (length of a drift test)."""


SAC = synth.like("SAC", config={"max_episode_steps": 200})
CASES = (
    fires(
        "every episode times out and nothing improves",
        lambda: SAC({"reward/episode_return_mean": synth.walk(-1300, 40)}),
    ),
    healthy("always times out but the return rises", lambda: SAC({})),
    near_miss(
        "half of the episodes end early",
        lambda: SAC(
            {"reward/episode_return_mean": synth.walk(-1300, 40), "episode/length_mean": synth.flat(150, 0.05)}
        ),
    ),
)


@rule(
    "ENV006",
    "episodes-at-time-limit",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.INFO,
    any_of=(("episode/truncated_frac", "episode/length_mean"), TRAIN),
    when=("control",),
    min_points=30,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Every episode runs into the time limit, and the return does not rise.

    What it means:
        No episode ever ends by reaching a goal or by failing, from the first point on.

    Why it matters:
        If the task has a goal, the agent never sees it, so nothing near it is ever reinforced.

    Usual causes:
        Goal too far for random exploration; episode limit too short to reach it; termination not reported.

    What to try:
        Start some episodes near the goal; add intermediate goals; check that a scripted solution terminates.

    When it is harmless:
        Tasks without an end (pendulum, locomotion) always run to the limit.

    References:
        Pardo et al. 2018, "Time limits in reinforcement learning", arXiv 1712.00378.
    """
    share, length = view.get("episode/truncated_frac"), view.get("episode/length_mean")
    limit = view.number("max_episode_steps")
    reward = view.get(*TRAIN)
    if reward is None or len(reward) < params.points or rises(reward) or any(rises(view.get(n)) for n in TRUTH):
        return None
    if share is not None and len(share):
        shown, full = share, share.min >= params.truncated_frac
    elif length is not None and len(length) and limit is not None:
        shown, full = length, length.min >= limit
    else:
        return Skip(
            "neither the truncated share nor the limit is known", ("episode/truncated_frac", "config max_episode_steps")
        )
    if not full:
        return None
    return Detection(
        message=f"all episodes hit the time limit over {len(shown)} rows and the return does not rise",
        onset=from_start(view, shown),
        metric=shown.metric,
        evidence={"rows": len(shown), "return_z": moved(reward).z},
    )
