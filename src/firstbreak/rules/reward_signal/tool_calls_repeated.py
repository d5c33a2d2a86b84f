"""The rule `tool-calls-repeated`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRUTH, began, moved_odds, rises, stretches
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `tool-calls-repeated`: engineering defaults, except where a source is named."""

    level: float = 0.2
    """Share of calls that repeat an earlier one of the same trajectory. Engineering default."""
    z: float = 4.0
    """Standard errors by which its log-odds must have risen, inflated for autocorrelation."""
    log_odds: float = 0.7
    """Least rise of the log-odds. Engineering default."""


GRPO = synth.like("GRPO")

AGAIN = "tool/repeat_fraction"

CASES = (
    fires("calls are repeated for show", lambda: GRPO({AGAIN: synth.clipped(synth.ramp(0.05, 0.6), 0, 1)})),
    healthy("few", lambda: GRPO({AGAIN: synth.clipped(synth.flat(0.05, 0.2), 0, 1)})),
    near_miss(
        "more repeats and more success",
        lambda: GRPO(
            {AGAIN: synth.clipped(synth.ramp(0.05, 0.4), 0, 1), "reward/true_objective": synth.ramp(0.2, 0.7, 0.03)}
        ),
    ),
    near_miss("many from the start", lambda: GRPO({AGAIN: synth.clipped(synth.flat(0.4, 0.05), 0, 1)})),
)


@rule(
    "RWD031",
    "tool-calls-repeated",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    needs=(AGAIN,),
    when=("language",),
    min_points=16,
    across_phases=True,
    implies=("tool-call-inflation", "turn-blow-up", "truncation-growing"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """More and more tool calls repeat an earlier call of the same trajectory.

    What it means:
        The share of duplicate calls lies well above the opening, and the task's own score has not risen with it.

    Why it matters:
        Calls are made because calls are paid, or because the agent does not read the answers; both cost turns and time.

    Usual causes:
        A reward per call; no cost of a call; tool output cut so short that it tells nothing; errors not shown.

    What to try:
        Take the reward per call away for a short run; pay only on outcome; read ten trajectories with repeats.

    When it is harmless:
        Polling a state that changes by itself; retries after a passing error.

    References:
        Qian et al. 2025 (ToolRL), arXiv 2504.13958. Engineering defaults.
    """
    again = view.get(AGAIN)
    assert again is not None
    change = moved_odds(again)
    before, now = stretches(again.value)
    if change.z < params.z or change.difference < params.log_odds or median(now) < params.level:
        return None
    if any(rises(view.get(name)) for name in TRUTH):
        return None
    return Detection(
        message=f"tool calls that repeat an earlier one went from {median(before):.1%} to {median(now):.1%}",
        onset=began(view, again),
        metric=AGAIN,
        evidence={"opening_frac": median(before), "recent_frac": median(now), "z": change.z},
    )
