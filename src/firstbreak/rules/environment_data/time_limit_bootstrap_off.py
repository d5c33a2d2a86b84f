"""The rule `time-limit-bootstrap-off`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import RunView
from firstbreak.vocabulary import traits_of


@dataclass(frozen=True)
class Params:
    """Thresholds of `time-limit-bootstrap-off`. Engineering defaults where no source is named."""

    truncated_frac: float = 0.95
    """Share of episodes cut by the limit, from the start on, at which nearly every target of a last step is biased."""


TASK = {"episode/truncated_frac": synth.constant(1.0)}
OFF = synth.like("SAC", config={"timeout_bootstrap": False})
ON = synth.like("SAC", config={"timeout_bootstrap": True})
PPO_OFF = synth.like("PPO", config={"timeout_bootstrap": False})
CASES = (
    fires("endless task, bootstrap cut at the limit", lambda: OFF(TASK)),
    fires("bootstrap off, share unknown: a hint", lambda: PPO_OFF({"episode/truncated_frac": synth.flat(0.3)})),
    healthy("bootstrap on", lambda: ON(TASK)),
    near_miss("no episode is ever truncated", lambda: OFF({"episode/truncated_frac": synth.constant(0.0)})),
)


@rule(
    "ENV012",
    "time-limit-bootstrap-off",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.INFO,
    needs_config=("timeout_bootstrap",),
    when=("control",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("critic-not-learning",),
)
def detect(view: RunView, params: Params) -> Answer:
    """The value target treats a time limit as the end of the world.

    What it means:
        The configuration switches the bootstrap off at truncation, so steps near the limit are valued as if nothing
        came after them.

    Why it matters:
        Values near the limit are biased low by about gamma times the next value; a policy may become short-sighted.

    Usual causes:
        `done = terminated or truncated` used in the target; the final observation of a vector environment not kept.

    What to try:
        Recompute the targets of one batch with and without the bootstrap at truncation and compare.

    When it is harmless:
        When the observation holds the remaining time, or episodes hardly ever reach the limit. Many on-policy codes do
        without and learn, so this is a hint; in a task that never ends by itself and learns Q values it is a warning.

    References:
        Pardo et al. 2018, "Time limits in reinforcement learning", arXiv 1712.00378.
    """
    setting = str(view.config("timeout_bootstrap")).strip().lower()
    if setting not in ("false", "0", "0.0", "off", "no"):
        return None
    share = view.get("episode/truncated_frac")
    if share is not None and len(share) and share.max <= 0:
        return None
    level = median(share.value) if share is not None and len(share) else float("nan")
    heavy = (
        "q_function" in traits_of(view.algorithm)
        and share is not None
        and len(share) > 0
        and share.min >= params.truncated_frac
    )
    return Detection(
        message=f"no bootstrap at time limits; share of truncated episodes: {level:.2g}",
        onset=view.onset(0.0),
        metric=share.metric if share is not None else "",
        evidence={"truncated_frac": level},
        severity=Severity.WARNING if heavy else Severity.INFO,
    )
