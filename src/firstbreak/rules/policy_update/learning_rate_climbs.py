"""The rule `learning-rate-climbs`."""

from __future__ import annotations

import math
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
    rest: int = 20
    """Rows at one rate right before a climb, after which it is no warm-up: then ..."""
    rises: int = 8
    """... so many rows on end are enough."""
    steered: tuple[float, ...] = (1.2, 1.5, 2.0)
    """Factors by which rates that follow the KL are raised (rsl_rl, rl_games, skrl 1.5; RLlib 1.5 or 2): a climb of
    whole powers of one of them is theirs."""


def begins_to_climb(factor: float, rest: float = 3e-4) -> synth.Shape:
    """Stand still at a rate for four fifths, then rise by a factor in each row."""

    def shape(t: Floats, rng: np.random.Generator) -> Floats:
        del rng
        gone: Floats = np.maximum(0, np.arange(t.size) - int(0.8 * t.size)).astype(float)
        found: Floats = np.where(gone == 0, rest, 3e-4 * factor**gone)
        return found

    return shape


PLANNED = synth.like("PPO", config={"total_steps": 120}, clock="env_steps")
PPO = synth.like("PPO")
CASES = (
    fires("the schedule counts what is left for what is done", lambda: PLANNED({LR: synth.ramp(0.0, 0.1, 0.0)})),
    fires("the same, and the plan is not known", lambda: PPO({LR: synth.ramp(0.0, 0.1, 0.0)})),
    fires("a tenth more at each update", lambda: PPO({LR: synth.geometric(3e-4, 3e-2, 0.0, begin=0.4)})),
    fires("it stood still and begins to climb", lambda: PPO({LR: begins_to_climb(1.08)})),
    near_miss("a rate that follows the KL stood still, too", lambda: PPO({LR: begins_to_climb(1.5)})),
    near_miss("it stood at 0 while the critic began", lambda: PPO({LR: begins_to_climb(1.08, rest=0.0)})),
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
        Every row up to the newest has a higher rate than the one before, over two fifths of the log or more, or after
        the rate had stood still for long, and it has grown severalfold meanwhile.

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
    if stood_still(lr.value[: first + 1], params) and climbs_by_itself(lr.value[first:], params):
        return Detection(
            message=f"the learning rate stood at {lr.value[first]:.3g}, and climbs to {lr.last:.3g} in {rows - 1} rows",
            onset=view.onset(float(lr.step[first]), float(lr.step[first + 1])),
            metric=lr.metric,
            evidence={"lr_before": float(lr.value[first]), "lr": lr.last, "rows": rows - 1},
        )
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


def stood_still(value: Floats, params: Params) -> bool:
    """Whether the last rates of `value` [n] are one, and not 0."""
    last = value[-params.rest :]
    return last.size == params.rest and last[-1] > 0 and bool((np.abs(last / last[-1] - 1) < 1e-6).all())


def climbs_by_itself(value: Floats, params: Params) -> bool:
    """Whether rates [n], each above the one before, go far, and not by the factors of those that follow the KL."""
    if value.size <= params.rises or value[-1] < params.factor * value[0]:
        return False
    logs: Floats = np.log(value)
    powers = [(logs[1:] - logs[:-1]) / math.log(factor) for factor in params.steered]
    return not any(bool((np.abs(power - np.round(power)) < 0.01).all()) for power in powers)


def climbs_from(value: Floats) -> int:
    """Return the place from which on every number of `value` [n] is above the one before it."""
    stays = np.flatnonzero(np.diff(value) <= 0)
    return int(stays[-1]) + 1 if stays.size else 0
