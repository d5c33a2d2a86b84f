"""The rule `errors-outgrow-values`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, ended, progress, rises, starts_late
from firstbreak.stats import median
from firstbreak.view import RunView
from firstbreak.vocabulary import traits_of

LOSS, VALUE = "critic/loss", "critic/q_mean"


@dataclass(frozen=True)
class Params:
    """Thresholds of `errors-outgrow-values`. In the healthy runs of SAC and TD3 (ordinary logs and the development
    half of the fault benchmark, 2026-11-26) no root of the loss that has grown by half is a tenth of the values."""

    share: float = 0.2
    """Root of the critic's loss over the size of the values, in the last third of the run."""
    grown: float = 3.0
    """Growth of that root over the first rows."""
    already: float = 1.25
    """Growth that the second sixth of the run shows: what comes later has another beginning. Engineering default."""
    rows: int = 24
    """Rows that are needed. Engineering default."""
    passed: float = 0.5
    """Share of the planned steps from which on it is said of a run that goes on. Engineering default."""


SAC = synth.like("SAC")
RETURN = "reward/episode_return_mean"
GROWS = synth.ramp(4, 200, 0.02)
FALLS = synth.ramp(-5, -50, 0.02)
CASES = (
    fires("gradients add up", lambda: SAC({VALUE: FALLS, LOSS: GROWS, RETURN: synth.walk(-150, 10)})),
    healthy("errors of a few per cent", lambda: SAC({VALUE: FALLS, LOSS: synth.ramp(0.1, 2, 0.02)})),
    near_miss("large errors that shrink", lambda: SAC({VALUE: FALLS, LOSS: synth.ramp(400, 150, 0.02)})),
    near_miss("values pass through 0 as the return rises", lambda: SAC({VALUE: synth.ramp(-3, 4, 0.02), LOSS: GROWS})),
    near_miss("a change in mid-run", lambda: SAC({VALUE: FALLS, LOSS: synth.jump(3, 300, at=0.5, noise=0.1)})),
)


@rule(
    "CRT049",
    "errors-outgrow-values",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    needs=(LOSS, VALUE),
    when=("control", "q_function", "policy_gradient"),
    min_points=24,
    params=Params(),
    cases=CASES,
    implies=("reward-flat", "critic-not-learning", "value-loss-explosion"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The critic's errors grow from the start on and reach a fifth of the values: it does not fit its own targets.

    What it means:
        As values grow, errors grow with them, but a critic that fits errs by a few per cent. Here the root of its loss
        has grown to several times what it was when nothing was known.

    Why it matters:
        The actor climbs an estimate that is thrown about.

    Usual causes:
        Gradients that are not cleared and add up; a learning rate far too high; rewards of noise; observations of very
        different sizes.

    What to try:
        Fit the critic alone on one stored batch: the loss must fall. Log its gradient norm.

    When it is harmless:
        Where the return rises the estimate is good enough, and the rule is silent: values near 0 are small whatever
        returns they are the mean of. When a loss is the sum of many critics, or prioritised rows weigh the worst ones
        most.

    References:
        None; the critic's error is compared with its own values.
    """
    loss, value, share = view.get(LOSS), view.get(VALUE), progress(view)
    assert loss is not None
    assert value is not None
    if not traits_of(view.algorithm) >= {"q_function", "policy_gradient"} or rises(view.get(*TRAIN)):
        return None
    if len(loss) < params.rows or len(value) < params.rows or starts_late(loss):
        return None
    if not (ended(view) or (share is not None and share >= params.passed)):
        return None
    parts = loss.value[:6], loss.value[len(loss) // 6 : len(loss) // 3], loss.value[-len(loss) // 3 :]
    opening, between, now = (float(np.sqrt(median(np.abs(part)))) for part in parts)
    size = median(np.abs(value.value[-len(value) // 3 :]))
    if now < params.grown * opening or between < params.already * opening or now < max(params.share * size, between):
        return None
    return Detection(
        message=f"the critic errs by {now:.3g} at values of {size:.3g}; in the first rows it erred by {opening:.3g}",
        onset=view.onset(float(loss.step[0]), float(loss.step[len(loss) // 3])),
        metric=LOSS,
        evidence={"root_of_loss": now, "opening": opening, "values": size},
    )
