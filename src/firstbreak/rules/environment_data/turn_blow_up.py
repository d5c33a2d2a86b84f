"""The rule `turn-blow-up`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, TRUTH, began, moved, rises
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `turn-blow-up`. Engineering defaults where no source is named."""

    ratio: float = 1.5
    """Turns over those of the opening. Engineering default."""
    z: float = 4.0
    """Standard errors of the difference, inflated for autocorrelation."""


GRPO = synth.like("GRPO")
FLAT = {"reward/train_mean": synth.flat(0.3, 0.05)}
CASES = (
    fires(
        "turns triple, success flat",
        lambda: GRPO(
            FLAT | {"env/turns_mean": synth.ramp(4, 12, 0.03), "reward/true_objective": synth.flat(0.3, 0.05)}
        ),
    ),
    healthy("steady turns", lambda: GRPO({"env/turns_mean": synth.flat(5, 0.05)})),
    near_miss(
        "more turns earn more success",
        lambda: GRPO({"env/turns_mean": synth.ramp(4, 9, 0.03), "reward/true_objective": synth.ramp(0.2, 0.7, 0.03)}),
    ),
)


@rule(
    "ENV009",
    "turn-blow-up",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    needs=("env/turns_mean",),
    when=("language",),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=("truncation-growing", "step-time-tail", "throughput-decay"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Trajectories take more and more turns without more success.

    What it means:
        The mean number of turns has grown well past the run's opening while neither reward nor success rose.

    Why it matters:
        Turns run into the cap, trajectories are cut, steps get slow, and the last turns carry the blame.

    Usual causes:
        No cost per turn; process rewards that pay for activity; failing tools that are called again.

    What to try:
        Compare trajectories of opening and now on equal tasks; add a cap or a cost per turn.

    When it is harmless:
        Harder tasks in a curriculum need more turns; with rising success the rule stays silent.

    References:
        Wang et al. 2025, "RAGEN", arXiv 2504.20073.
    """
    turns = view.get("env/turns_mean")
    assert turns is not None
    change = moved(turns)
    if change.reference <= 0 or change.recent < params.ratio * change.reference or change.z < params.z:
        return None
    measured = [p for p in (view.get(n) for n in TRUTH) if p is not None]
    if any(rises(p) for p in measured) or rises(view.get(*TRAIN)):
        return None
    return Detection(
        message=f"turns per trajectory went from {change.reference:.3g} to {change.recent:.3g} without more success",
        onset=began(view, turns),
        metric=turns.metric,
        evidence={"opening_turns": change.reference, "recent_turns": change.recent, "z": change.z},
        severity=None if measured else Severity.INFO,
    )
