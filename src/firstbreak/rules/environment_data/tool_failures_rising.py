"""The rule `tool-failures-rising`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import began, moved_odds, stretches
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `tool-failures-rising`. Engineering defaults where no source is named."""

    level_frac: float = 0.1
    """Share of failed calls from which a rise matters. Engineering default."""
    log_odds: float = 1.0
    """Growth of the log-odds against the run's own opening: a factor e in the odds."""
    z: float = 4.0
    """Standard errors of the difference, inflated for autocorrelation."""


GRPO = synth.like("GRPO")
CASES = (
    fires(
        "tools begin to fail",
        lambda: GRPO({"tool/failure_fraction": synth.clipped(synth.ramp(0.03, 0.5, 0.03, begin=0.4), 0, 1)}),
    ),
    healthy("few failures", lambda: GRPO({"tool/failure_fraction": synth.flat(0.03, 0.1)})),
    near_miss(
        "many at first, fewer later",
        lambda: GRPO({"tool/failure_fraction": synth.clipped(synth.ramp(0.5, 0.1, 0.03), 0, 1)}),
    ),
    near_miss("noisy but steady", lambda: GRPO({"tool/failure_fraction": synth.clipped(synth.walk(0.2, 0.06), 0, 1)})),
)


@rule(
    "ENV014",
    "tool-failures-rising",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    needs=("tool/failure_fraction",),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=("turn-blow-up", "reward-noisy"),
)
def detect(view: RunView, params: Params) -> Answer:
    """A growing share of tool calls fails.

    What it means:
        Failed calls over all calls lie well above the run's own opening.

    Why it matters:
        The policy is punished for the tool's failures, or learns to avoid the tool or to call it again and again.

    Usual causes:
        A tool service under load; rate limits; the policy drifting to malformed calls.

    What to try:
        Replay the failing calls by hand: if they succeed, the service fails; if not, read what the policy sends.

    When it is harmless:
        When the policy tries harder calls on harder tasks and success rises; read the calls.

    References:
        Engineering defaults; see the parameters.
    """
    failed = view.get("tool/failure_fraction")
    assert failed is not None
    before, now = stretches(failed.value)
    change = moved_odds(failed)
    if median(now) < params.level_frac or change.z < params.z or change.difference < params.log_odds:
        return None
    return Detection(
        message=f"failed tool calls went from {median(before):.1%} to {median(now):.1%}",
        onset=began(view, failed),
        metric=failed.metric,
        evidence={"opening_frac": median(before), "recent_frac": median(now), "z": change.z},
    )
