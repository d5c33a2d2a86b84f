"""The rule `critic-ignores-state`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import RunView

MOST, LEAST, ERROR = "critic/q_max", "critic/q_min", "critic/td_error_mean"
OBSERVED, PAID = "obs/constant_frac", "reward/env_std"


@dataclass(frozen=True)
class Params:
    """Thresholds of `critic-ignores-state`. Engineering defaults where no source is named."""

    share: float = 0.05
    """Range of the values of a batch over their mean TD error. In the healthy runs of the fault benchmark (corpus of
    2026-11-25, four trainers of DQN and SAC) the largest of eight rows in a row never lies below 3."""
    rows: int = 8
    """Newest rows that must all show it."""
    told: float = 1.0
    """The same ratio in earlier rows, from which on the critic once did tell states apart: an error, for no task takes
    that away. What was never so may be a task of one value and much noise."""


DQN = synth.like("DQN")


def spans(ratio: synth.Shape) -> dict[str, synth.Shape]:
    """Values around 40 with a TD error of 3, and a range of `ratio` times that."""

    def beside(sign: float) -> synth.Shape:
        def shape(t: Floats, rng: np.random.Generator) -> Floats:
            return 40.0 + sign * 1.5 * ratio(t, rng)

        return shape

    return {MOST: beside(1.0), LEAST: beside(-1.0), ERROR: synth.flat(3.0, 0.2)}


LUCK = {PAID: synth.flat(4.0, 0.1)}
CASES = (
    fires("values of one batch are all the same", lambda: DQN(spans(synth.flat(0.01, 0.2)))),
    fires(
        "the first layer died in mid-run",
        lambda: DQN(spans(synth.after(0.6, synth.flat(0.01, 0.2), synth.flat(9.0, 0.2)))),
    ),
    healthy("values differ by many times their error", lambda: DQN(spans(synth.flat(9.0, 0.2)))),
    near_miss("values that hardly differ yet", lambda: DQN(spans(synth.geometric(0.02, 9.0, until=0.03)))),
    near_miss("a critic far behind large rewards", lambda: DQN(spans(synth.flat(0.2, 0.2)))),
    fires("a note in a game of chance: the error is that of rewards", lambda: DQN(spans(synth.flat(0.01)) | LUCK)),
    near_miss("observations that never change", lambda: DQN(spans(synth.flat(0.01)) | {OBSERVED: synth.constant(1.0)})),
)


@rule(
    "CRT024",
    "critic-ignores-state",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    needs=(MOST, LEAST, ERROR),
    when=("q_function",),
    min_points=8,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=(
        "critic-not-learning",
        "twin-q-identical",
        "targets-shrink",
        "limit-not-bootstrapped",
        "values-jump",
        "actor-at-rest",
        "reward-flat",
        "return-collapse",
        "alpha-collapse",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The critic gives every state the same value, and is wrong by far more than its values differ.

    What it means:
        Over a batch of replayed rows the largest and the smallest value lie together, within a small share of the mean
        TD error. Nothing that the critic is shown changes its answer.

    Why it matters:
        The policy follows differences of values. Here there are none, so it follows rounding and the entropy bonus.

    Usual causes:
        Dead units in an early layer; observations that reach the critic as zeros or saturate it; a network that is
        evaluated on the wrong input; an output that is clamped.

    What to try:
        Feed two states that differ and compare the activations of each layer: the first layer where they agree is it.

    When it is harmless:
        A task whose states are all worth the same, with noisy rewards: a note where the critic never told states apart
        and errs by no more than single rewards scatter. Not reported where no observation ever changes.

    References:
        Lyle et al. 2022, arXiv 2204.09560 (capacity of value networks). Sokar et al. 2023, arXiv 2302.12902.
    """
    parts = [view.get(name) for name in (MOST, LEAST, ERROR)]
    most, least, error = (part for part in parts if part is not None)
    same = view.get(OBSERVED)
    if same is not None and len(same) and same.min >= 1:
        return None
    steps = np.intersect1d(np.intersect1d(most.step, least.step), error.step)
    if steps.size < params.rows:
        return None
    high, low, off = (part.value[np.isin(part.step, steps)] for part in (most, least, error))
    ratio = _ratio(high - low, off)
    if ratio[-params.rows :].max() > params.share:
        return None
    loud = np.flatnonzero(ratio > params.share)
    start = int(loud[-1]) + 1 if loud.size else 0
    once = start > 0 and float(np.median(ratio[max(0, start - params.rows) : start])) >= params.told
    return Detection(
        message=f"values of a batch differ by {high[-1] - low[-1]:.3g} and are off by {off[-1]:.3g} on average",
        onset=view.onset(float(steps[max(start - 1, 0)]), float(steps[start])),
        metric=MOST,
        evidence={"ratio": float(ratio[-1]), "rows": int(ratio.size - start)},
        severity=Severity.ERROR if once else Severity.INFO if by_luck(view, off, params) else None,
    )


def by_luck(view: RunView, error: Floats, params: Params) -> bool:
    """Whether the newest errors [n] are no larger than single rewards scatter: no state could tell them beforehand."""
    paid = view.get(PAID)
    if paid is None or len(paid) < params.rows:
        return False
    return median(error[-params.rows :]) <= median(paid.value[-params.rows :])


def _ratio(span: Floats, error: Floats) -> Floats:
    """Return range over error [n]; what is not wrong at all says nothing."""
    return np.divide(span, error, out=np.full(span.size, np.inf), where=(error > 0) & np.isfinite(span))
