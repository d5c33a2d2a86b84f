"""The rule `false-success-rising`."""

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
    """Thresholds of `false-success-rising`: engineering defaults, except where a source is named."""

    level: float = 0.05
    """Share of claims without a changed state that is worth a word. Engineering default."""
    z: float = 4.0
    """Standard errors by which its log-odds must have risen, inflated for autocorrelation."""
    log_odds: float = 0.7
    """Least rise of the log-odds. Engineering default."""


GRPO = synth.like("GRPO")

FALSE = "env/false_success_fraction"

CASES = (
    fires("claims replace deeds", lambda: GRPO({FALSE: synth.clipped(synth.ramp(0.02, 0.4), 0, 1)})),
    healthy("rare", lambda: GRPO({FALSE: synth.clipped(synth.flat(0.01, 0.3), 0, 1)})),
    near_miss("common from the start and steady", lambda: GRPO({FALSE: synth.clipped(synth.flat(0.3, 0.05), 0, 1)})),
    near_miss("falls", lambda: GRPO({FALSE: synth.clipped(synth.ramp(0.4, 0.05), 0, 1)})),
)


@rule(
    "RWD030",
    "false-success-rising",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    needs=(FALSE,),
    when=("language",),
    min_points=16,
    across_phases=True,
    implies=("proxy-divergence", "heldout-regression"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The agent claims success more and more often where the environment shows none.

    What it means:
        The share of trajectories that say "done" while the state that the task asks for is not there has grown.

    Why it matters:
        The reward reads the claim, so the claim is learned: cheaper than the deed.

    Usual causes:
        A judge that sees only the final message; tool errors recorded as success; a verifier that trusts exit codes.

    What to try:
        Check the state of the environment in the reward; show the judge the trace, not the summary.

    When it is harmless:
        When the state check is too strict: look at ten such trajectories first.

    References:
        Barres et al. 2025 and Yao et al. 2024 (tau-bench), arXiv 2406.12045 (success read off the database state).
    """
    false = view.get(FALSE)
    assert false is not None
    change = moved_odds(false)
    before, now = stretches(false.value)
    if change.z < params.z or change.difference < params.log_odds or median(now) < params.level:
        return None
    return Detection(
        message=f"claims of success that the state does not bear out: {median(before):.1%} to {median(now):.1%}",
        onset=began(view, false),
        metric=FALSE,
        evidence={
            "opening_frac": median(before),
            "recent_frac": median(now),
            "z": change.z,
            "score_rises": any(rises(view.get(name)) for name in TRUTH),
        },
    )
