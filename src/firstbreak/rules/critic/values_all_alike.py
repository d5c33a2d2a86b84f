"""The rule `values-all-alike`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import RunView

VALUE, LOSS = "critic/q_mean", "critic/loss"


@dataclass(frozen=True)
class Params:
    """Thresholds of `values-all-alike`."""

    alike: float = 1e-3
    """Range of the newest mean values, as a share of their size. In the healthy runs of the fault benchmark's
    development half (2026-11-25) no ten rows on end lie within less than 0.008."""
    rows: int = 10
    """Newest rows that must be alike. Engineering default."""
    off: float = 0.01
    """Root of the loss, as a share of the mean value, from which on there is something left to fit. Engineering
    default."""


SAC = synth.like("SAC")
CASES = (
    fires("one number for every state", lambda: SAC({VALUE: synth.flat(-50.8, 1e-6), LOSS: synth.flat(140)})),
    healthy("values of ever other batches", lambda: SAC({})),
    near_miss("values that hardly change", lambda: SAC({VALUE: synth.flat(-50.8, 0.003), LOSS: synth.flat(140)})),
    near_miss("nothing is left to fit", lambda: SAC({VALUE: synth.flat(0.94, 1e-6), LOSS: synth.constant(1e-9)})),
)


@rule(
    "CRT031",
    "values-all-alike",
    link=Link.CRITIC,
    component=Component.VALUE,
    needs=(VALUE, LOSS),
    when=("q_function", "replay"),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=("entropy-ignores-temperature", "actor-at-rest", "alpha-runaway", "alpha-collapse", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The mean value of ever new batches is one and the same number, and it is wrong.

    What it means:
        Each row averages other rows of the replay buffer. Values that depend on the state would give other means.

    Why it matters:
        No action is worth more than another, so the policy has nothing to follow; nor will the critic recover.

    Usual causes:
        All units of a layer are dead, often after a far too large step; observations that reach the critic as one
        constant; an output that is clamped; the same batch drawn again and again.

    What to try:
        Feed two stored states to the critic; then look at the activations of each layer.

    When it is harmless:
        A task whose states are all worth the same.

    References:
        Lyle et al. 2022, arXiv 2204.09560. Sokar et al. 2023, arXiv 2302.12902.
    """
    value, loss = view.get(VALUE), view.get(LOSS)
    assert value is not None
    assert loss is not None
    newest = value.value[-params.rows :]
    size = float(np.abs(newest).max())
    if newest.size < params.rows or size == 0 or np.ptp(newest) > params.alike * size:
        return None
    if median(np.abs(loss.value[-params.rows :])) < (params.off * size) ** 2:
        return None
    apart = np.abs(value.value - value.last) > params.alike * size
    start = int(np.flatnonzero(apart)[-1]) + 1 if apart.any() else 0
    return Detection(
        message=f"the mean value is {value.last:.5g} in the last {len(value) - start} rows; loss {loss.last:.3g}",
        onset=view.onset(float(value.step[max(start - 1, 0)]), float(value.step[start])),
        metric=VALUE,
        evidence={"value": value.last, "rows": len(value) - start, "loss": loss.last},
    )
