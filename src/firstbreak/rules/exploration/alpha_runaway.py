"""The rule `alpha-runaway`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import persistent_onset, rank_correlation, safe_log
from firstbreak.stats.level import opening
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `alpha-runaway`: engineering defaults, except where a source is named."""

    factor: float = 5.0
    """Newest temperature over its opening (over 1, the usual start, where it began lower), with growth that does not
    slow down. Engineering default: healthy runs let it fall."""
    absurd: float = 1e4
    """Growth over the start (over 1, the usual start, in a log too short to show one) that no feasible target
    explains. Engineering default."""
    points: int = 8
    """Logged points that the trend needs."""


SAC = synth.like("SAC")
SAC2 = synth.like("SAC", n=2)

CASES = (
    fires("temperature grows for ever", lambda: SAC({"sac/alpha": synth.geometric(1.0, 60.0, 0.01)})),
    fires("absurd temperature in two rows", lambda: SAC2({"sac/alpha": synth.constant(5e8)})),
    healthy("temperature falls", lambda: SAC({})),
    near_miss("temperature rises and settles", lambda: SAC({"sac/alpha": synth.geometric(0.1, 0.8, 0.02, until=0.3)})),
)


@rule(
    "EXP007",
    "alpha-runaway",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs=("sac/alpha",),
    when=("max_entropy",),
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("q-divergence", "value-loss-explosion", "policy-loss-spike", "loss-explosion"),
)
def detect(view: RunView, params: Params) -> Answer:
    """SAC's temperature grows without settling.

    What it means:
        The policy stays below its entropy target, so the temperature keeps rising and outweighs the reward.

    Why it matters:
        The entropy bonus enters every target: Q values follow the temperature, not the task.

    Usual causes:
        Reward scale too large; a target above what the actions allow; a standard deviation that is clipped; a wrong
        sign.

    What to try:
        Check the reward's scale first, then the target against the action space; rerun briefly with a fixed
        temperature.

    When it is harmless:
        A rise from a small start that levels off.

    References:
        Haarnoja et al. 2018, arXiv 1812.05905, section 5.
    """
    alpha = view.get("sac/alpha")
    assert alpha is not None
    if not len(alpha):
        return None
    whole = len(alpha.source) < params.points and view.log.state != "running"
    start = 1.0 if whole else max(opening(alpha.value, 3), 1.0)
    growth = alpha.last / max(start, 1e-300)
    absurd = growth >= params.absurd and (whole or len(alpha) >= 3)
    if not absurd and (len(alpha) < params.points or growth < params.factor or not _unbounded(alpha.value)):
        return None
    ending = "" if whole else ", and still rising"
    over = persistent_onset(alpha.step, alpha.value >= min(growth, 1.5) * start, 1) or (
        float(alpha.step[0]),
        float(alpha.step[-1]),
    )
    return Detection(
        message=f"Temperature alpha is {alpha.last:.3g}, {growth:.3g} times its start{ending}",
        onset=view.onset(*over),
        metric=alpha.metric,
        evidence={"alpha": alpha.last, "growth": growth},
        severity=Severity.ERROR if absurd else None,
    )


def _unbounded(value: Floats) -> bool:
    """Whether log `value` [n] rises all along and the last third no slower than half the average pace."""
    logs = safe_log(value)
    if rank_correlation(np.arange(value.size, dtype=np.float64), logs) < 0.9:
        return False
    third = max(2, value.size // 3)
    average = (logs[-1] - logs[0]) / (value.size - 1)
    return bool(logs[-1] - logs[-1 - third] >= 0.5 * average * third)
