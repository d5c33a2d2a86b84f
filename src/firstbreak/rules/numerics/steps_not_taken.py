"""The rule `steps-not-taken`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

STILL, RATE = "optim/still_frac", "optim/lr"


def skipped(every: int, after: float) -> synth.Shape:
    """All weights rest but at each step in `every`, from this share of the run on."""

    def shape(time: NDArray[np.float64], _: np.random.Generator) -> NDArray[np.float64]:
        return ((np.arange(time.size) % every > 0) & (time >= after)).astype(np.float64)

    return shape


GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `steps-not-taken`; engineering defaults where no source is named."""

    still: float = 0.999
    """Share of the weights with a gradient that a step leaves as they were, bit for bit: all of them."""
    frac: float = 0.1
    """Share of the steps that do so. A settled loss scaler skips one step in two thousand."""
    settle: int = 5
    """First rows left out: a scaler starts high and finds its level by skipping."""
    rows: int = 16
    """Rows that are counted at a time."""


CASES = (
    fires("three of four", lambda: GRPO({STILL: skipped(4, 0.0)})),
    fires(
        "every other one from half-way on",
        lambda: GRPO({STILL: skipped(2, 0.5)}),
    ),
    healthy("none", lambda: GRPO({STILL: synth.constant(1e-4)})),
    near_miss("two while the scaler settles", lambda: GRPO({STILL: synth.jump(1.0, 0.0, at=0.02, noise=0.0)})),
    near_miss(
        "a rate of 0 at the end of a schedule",
        lambda: GRPO({STILL: synth.jump(0.0, 1.0, 0.8, 0.0), RATE: synth.jump(1e-6, 0.0, 0.8, 0.0)}),
    ),
    near_miss("most weights of each step", lambda: GRPO({STILL: synth.constant(0.97)})),
)


@rule(
    "NUM032",
    "steps-not-taken",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    needs=(STILL, RATE),
    min_points=16,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "steps-lost-in-rounding",
        "weights-hardly-move",
        "reward-flat",
        "policy-frozen",
        "reference-is-policy",
        "metrics-frozen",
        "return-collapse",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "reward-redefined",
        "reward-steps-down",
        "zero-std-groups",
        "advantage-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Steps of the optimiser are not taken: there is a gradient and a rate, and no weight moves.

    What it means:
        After many steps every weight with a gradient is the same as before, bit for bit.

    Why it matters:
        The batch was drawn, paid and thrown away. Loss, gradient norm and learning rate look as in any run, but it
        learns more slowly than its settings say.

    Usual causes:
        A loss scaler that overflows again and again; a guard that returns before the step; accumulation counted twice;
        a wrapper that steps every few calls.

    What to try:
        Count calls of the optimiser's step beside updates, and print the scaler's factor.

    When it is harmless:
        Steps that are left out on purpose, such as by a monitor.

    References:
        Micikevicius et al. 2018, arXiv 1710.03740, section 3.2 (what a loss scaler skips).
    """
    still, rate = view.get(STILL), view.get(RATE)
    assert still is not None
    assert rate is not None
    at = np.interp(still.step, rate.step, rate.value)
    none = (still.value >= params.still) & (at > 0.01 * rate.max)
    none[: params.settle] = False
    window = min(params.rows, len(none))
    share = np.convolve(none, np.ones(window), "valid") / window
    over = np.flatnonzero(share >= params.frac)
    if not over.size or none.sum() < 3 or len(none) < params.rows:
        return None
    first = int(np.flatnonzero(none)[0])
    value = float(none[first:].mean())
    if value < params.frac:
        return None
    return Detection(
        message=f"{value:.0%} of the steps since then leave every weight as it was, bit for bit",
        onset=view.onset(float(still.step[max(first - 1, 0)]), float(still.step[first])),
        metric=STILL,
        evidence={"skipped_frac": value},
    )
