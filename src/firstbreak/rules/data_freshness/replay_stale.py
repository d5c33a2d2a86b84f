"""The rule `replay-stale`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `replay-stale`: engineering defaults, except where a source is named."""

    factor: float = 3.0
    """TD error on the newest data over that on the whole buffer. Engineering default."""
    points: int = 8
    """Consecutive newest points."""


DQN = synth.like("DQN", clock="env_steps", step=500.0, config={"learning_starts": 10_000, "total_steps": 60_000})

CASES = (
    fires(
        "fresh data fit badly",
        lambda: DQN({"replay/fresh_td_error": synth.ramp(1.0, 8.0), "critic/td_error_mean": synth.flat(1.0)}),
    ),
    healthy(
        "both alike", lambda: DQN({"replay/fresh_td_error": synth.flat(1.1), "critic/td_error_mean": synth.flat(1.0)})
    ),
    near_miss(
        "fresh data somewhat worse",
        lambda: DQN({"replay/fresh_td_error": synth.flat(2.0), "critic/td_error_mean": synth.flat(1.0)}),
    ),
)


@rule(
    "DAT007",
    "replay-stale",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=("replay/fresh_td_error", "critic/td_error_mean"),
    when=("replay",),
    min_points=8,
    params=Params(),
    cases=CASES,
    implies=("q-exceeds-return", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The critic fits the replayed data well and the newest data badly.

    What it means:
        The TD error on the newest transitions is three times that on the buffer as a whole.

    Why it matters:
        The loss looks fine while the policy moves through states the critic does not know.

    Usual causes:
        Buffer too large or too old; too many updates per step; a policy that changed quickly.

    What to try:
        Weigh recent data more; smaller buffer; fewer updates per step.

    When it is harmless:
        Just after a new part of the task is reached.

    References:
        Fedus et al. 2020, arXiv 2007.06700 (replay ratio and age).
    """
    fresh, replayed = view.get("replay/fresh_td_error"), view.get("critic/td_error_mean")
    assert fresh is not None
    assert replayed is not None
    n = params.points
    if min(len(fresh), len(replayed)) < n:
        return None
    base = median(replayed.value[-n:])
    over = fresh.value >= params.factor * base
    if base <= 0 or not bool(over[-n:].all()):
        return None
    onset = persistent_onset(fresh.step, over, n)
    assert onset is not None
    ratio = median(fresh.value[-n:]) / base
    return Detection(
        message=f"TD error on the newest data is {ratio:.3g} times that on the buffer",
        onset=view.onset(*onset),
        metric=fresh.metric,
        evidence={"ratio": ratio, "fresh": fresh.last, "buffer": base},
    )
