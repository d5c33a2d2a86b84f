"""The rule `steps-outgrow-rate`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import RunView

DELTA, RATE = "optim/weight_delta", "optim/lr"


@dataclass(frozen=True)
class Params:
    """Thresholds of `steps-outgrow-rate`; engineering defaults where no source is named."""

    first: int = 8
    """Steps that are left out: Adam's first ones are its longest."""
    before: int = 8
    """Steps after those that say what is usual. Engineering default."""
    factor: float = 2.5
    """Length of a step over its learning rate, over the longest before. Of the runs of TRL's GRPO without a fault in
    the benchmark, with seven optimisers, none comes to 1.2 in three rows on end, and of those of which all rewards are
    alike, so that rounding is all there is to a gradient, one comes to 2.44."""
    rows: int = 3
    """Rows in a row that must show it."""


GRPO = synth.like("GRPO")


def course(then: float, at: float = 0.5) -> synth.Shape:
    """Lengths of steps at a constant rate: long ones at first, and from `at` on `then` times as long."""

    def shape(t: Floats, rng: np.random.Generator) -> Floats:
        found = 0.006 * (1 + 0.6 * np.exp(-20 * t)) * (1 + 0.05 * rng.standard_normal(t.size))
        return np.where(t < at, found, then * found)

    return shape


STEADY = {RATE: synth.constant(1e-3)}
CASES = (
    fires("ten times as long half-way", lambda: GRPO(STEADY | {DELTA: course(10.0)})),
    fires("three times", lambda: GRPO(STEADY | {DELTA: course(3.5)})),
    healthy("as long as ever", lambda: GRPO(STEADY | {DELTA: course(1.0)})),
    near_miss(
        "the rate grows, and steps with it",
        lambda: GRPO({RATE: synth.jump(1e-3, 1e-2, noise=0.0), DELTA: course(10.0)}),
    ),
    near_miss("one long step", lambda: GRPO(STEADY | {DELTA: synth.spikes(0.006, 0.1, at=(0.5,), noise=0.0)})),
    near_miss("somewhat longer", lambda: GRPO(STEADY | {DELTA: course(1.5)})),
)


@rule(
    "NUM055",
    "steps-outgrow-rate",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(DELTA, RATE),
    when=("language",),
    min_points=19,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "policy-jumps", "entropy-growing", "return-collapse", "reward-steps-down", "grad-norm-explosion",
        "policy-loss-spike", "truncation-growing", "token-entropy-collapse", "response-collapse", "kl-overshoot",
        "smooth-decline", "reward-redefined", "zero-std-groups", "steps-lost-in-rounding", "loss-explosion",
    ),
)  # fmt: skip
def detect(view: RunView, params: Params) -> Answer:
    """Steps of the optimiser became longer than any before, and their learning rate is no reason.

    What it means:
        The weights move by twice as much and more, per unit of the learning rate, as in the longest step so far.

    Why it matters:
        Adam divides by the size of recent gradients, so that the length of its steps hardly depends on them. Where it
        does grow, its state or the weights are at fault, and the policy is carried away within a few updates.

    Usual causes:
        Second moments that are lost, rounded to zero or swapped with the first; weights that are cut to few bits, so
        that a step goes to the next one; a decay that pulls harder than the gradient.

    What to try:
        Print weights, both moments and the step of one layer at one update, and compute the step by hand.

    When it is harmless:
        Plain gradient descent on gradients that grow: log them, and clip.

    References:
        Kingma and Ba 2015, arXiv 1412.6980, section 2.1 (what bounds a step of Adam).
    """
    delta, rate = view.get(DELTA), view.get(RATE)
    assert delta is not None
    assert rate is not None
    step, one, other = np.intersect1d(delta.step, rate.step, return_indices=True)
    moves = rate.value[other] > 0
    step, length = step[moves][params.first :], (delta.value[one][moves] / rate.value[other][moves])[params.first :]
    place = outgrown(length, params)
    if place is None:
        return None
    usual, now = float(length[:place].max()), median(length[place : place + 2 * params.rows])
    return Detection(
        message=f"steps are {now / usual:.3g} times as long as the longest before, at the same learning rate",
        onset=view.onset(float(step[place - 1]), float(step[place])),
        metric=DELTA,
        evidence={"longest_before": usual, "now": now},
    )


def outgrown(length: Floats, params: Params) -> int | None:
    """Return the first of the steps [n], of this length over their rate, that outgrow all before them."""
    longest = np.maximum.accumulate(length)
    for place in range(params.before, length.size - params.rows + 1):
        if longest[place - 1] > 0 and length[place : place + params.rows].min() >= params.factor * longest[place - 1]:
            return place
    return None
