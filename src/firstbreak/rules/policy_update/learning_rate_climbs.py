"""The rule `learning-rate-climbs`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import ended, progress
from firstbreak.series import Floats
from firstbreak.view import RunView

LR = "optim/lr"


@dataclass(frozen=True)
class Params:
    """Thresholds of `learning-rate-climbs`. Engineering defaults: published warm-ups take a tenth of a run or less."""

    rows: int = 20
    """Rows on end up to the newest that must climb."""
    share: float = 0.4
    """Share of all rows that they must be."""
    factor: float = 3.0
    """Times by which the newest rate exceeds that of the first quarter of the climb."""
    passed: float = 0.5
    """Share of the planned steps from which a climb that began with the run is no warm-up."""
    unplanned: int = 50
    """Rows of a finished log from which the same holds where the plan is not known."""


PLANNED = synth.like("PPO", config={"total_steps": 120}, clock="env_steps")
PPO = synth.like("PPO")
CASES = (
    fires("the schedule counts what is left for what is done", lambda: PLANNED({LR: synth.ramp(0.0, 0.1, 0.0)})),
    fires("the same, and the plan is not known", lambda: PPO({LR: synth.ramp(0.0, 0.1, 0.0)})),
    fires("a tenth more at each update", lambda: PPO({LR: synth.geometric(3e-4, 3e-2, 0.0, begin=0.4)})),
    healthy("constant", lambda: PPO({})),
    healthy("falls", lambda: PLANNED({LR: synth.ramp(3e-4, 0.0, 0.0)})),
    near_miss("warm-up of a tenth", lambda: PLANNED({LR: synth.ramp(0.0, 3e-4, 0.0, until=0.1)})),
    near_miss("a log that ends within its warm-up", lambda: synth.like("PPO", n=30)({LR: synth.ramp(0.0, 3e-4, 0.0)})),
    near_miss(
        "a cycle that climbs again, as configured",
        lambda: synth.like("PPO", config={"lr_schedule": "cyclic"})(
            {LR: synth.after(0.5, synth.ramp(1e-5, 3e-4, 0.0, begin=0.5), synth.ramp(3e-4, 1e-5, 0.0, until=0.5))}
        ),
    ),
)


@rule(
    "POL055",
    "learning-rate-climbs",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    needs=(LR,),
    min_points=20,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=(
        "kl-overshoot",
        "surrogate-rises",
        "entropy-collapse",
        "return-collapse",
        "grad-norm-explosion",
        "lr-too-high-config",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The learning rate climbs row after row, long after any warm-up would be over.

    What it means:
        Every row up to the newest has a higher rate than the one before, over two fifths of the log or more, and the
        rate has grown severalfold meanwhile.

    Why it matters:
        Steps are largest at the end, where they should be smallest: what was learned is lost when the rate has passed
        what the task bears.

    Usual causes:
        A schedule that is called with what is done where it takes what is left; warm-up steps counted in other units
        than the run; an exponent above 1.

    What to try:
        Plot the logged rate against its closed form over the planned number of steps.

    When it is harmless:
        Within a planned warm-up; in a range test of the rate (Smith 2017, arXiv 1506.01186).

    References:
        Goyal et al. 2017, arXiv 1706.02677 (warm-up over the first epochs).
    """
    if any(word in str(view.config("lr_schedule", "")).lower() for word in ("adaptive", "kl", "restart", "cycl")):
        return None
    lr = view.get(LR)
    assert lr is not None
    first = climbs_from(lr.value)
    rows = len(lr) - first
    if rows < max(params.rows, params.share * len(lr)):
        return None
    start, now = float(lr.value[first + rows // 4]), lr.last
    if start <= 0 or now < params.factor * start:
        return None
    share = progress(view)
    late = ended(view) and len(lr) >= params.unplanned if share is None else share >= params.passed
    if first == 0 and not late:
        return None
    return Detection(
        message=f"learning rate climbs from {lr.value[first]:.3g} to {now:.3g} over the last {rows} rows",
        onset=view.onset(float(lr.step[first]), float(lr.step[first + rows // 4])),
        metric=lr.metric,
        evidence={"lr_before": start, "lr": now, "rows": rows},
    )


def climbs_from(value: Floats) -> int:
    """Return the place from which on every number of `value` [n] is above the one before it."""
    stays = np.flatnonzero(np.diff(value) <= 0)
    return int(stays[-1]) + 1 if stays.size else 0
