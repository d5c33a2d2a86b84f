"""The rule `steps-skipped`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `steps-skipped`: engineering defaults, except where a source is named."""

    some: float = 0.01
    """Share of skipped optimiser steps worth a warning: a settled loss scaler skips about one step in two thousand
    (growth interval of PyTorch)."""
    most: float = 0.5
    """Share at which the run hardly trains."""
    points: int = 8
    """Points averaged."""
    settle: int = 5
    """First points left out: a scaler starts high and finds its level by skipping."""


PPO = synth.like("PPO")

CASES = (
    fires("half the steps skipped", lambda: PPO({"optim/step_skipped": synth.clipped(synth.flat(0.6, 0.1), 0, 1)})),
    healthy("none skipped", lambda: PPO({"optim/step_skipped": synth.constant(0.0)})),
    near_miss("skips while the scaler settles", lambda: PPO({"optim/step_skipped": synth.jump(1.0, 0.0, at=0.03)})),
)


@rule(
    "NUM004",
    "steps-skipped",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=("optim/step_skipped",),
    min_points=13,
    params=Params(),
    cases=CASES,
    implies=("metrics-frozen", "policy-frozen", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Optimiser steps are skipped because gradients are not finite.

    What it means:
        More than 1 % of the steps are dropped in silence.

    Why it matters:
        The run looks calm: averages over the remaining steps stay finite, or print as 0 when none remain.

    Usual causes:
        Overflow in fp16; a NaN in part of the batches; a guard that hides the producer.

    What to try:
        Count and log skips; find the first tensor that is not finite; use bf16 or fp32 for log-probs and losses.

    When it is harmless:
        A few skips while the loss scale settles.

    References:
        Micikevicius et al. 2018, arXiv 1710.03740, section 3.2.
    """
    skipped = view.get("optim/step_skipped")
    assert skipped is not None
    value = skipped.value[params.settle :]
    share = float(value[-params.points :].mean()) if value.size >= params.points else 0.0
    if share <= params.some:
        return None
    onset = persistent_onset(skipped.step[params.settle :], value > params.some, 1)
    assert onset is not None
    return Detection(
        message=f"{share:.1%} of the optimiser steps are skipped (limit {params.some:.0%})",
        onset=view.onset(*onset),
        metric=skipped.metric,
        evidence={"skipped_frac": share},
        severity=Severity.ERROR if share >= params.most else None,
    )
