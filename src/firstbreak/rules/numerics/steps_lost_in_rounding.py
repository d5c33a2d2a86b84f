"""The rule `steps-lost-in-rounding`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

STILL, RATE, HELD = "optim/still_frac", "optim/lr", "optim/held_weights_frac"
GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `steps-lost-in-rounding`; engineering defaults where no source is named."""

    still: float = 0.5
    """Share of the weights with a gradient that a step leaves as they were, bit for bit. In 32 bits next to none; of
    bfloat16 weights of size 0.02 nearly all at a rate of 1e-6, since half a unit in the last place is 4e-5."""
    rows: int = 8
    """Rows in a row that must show it: a step that a loss scaler skips moves nothing, either."""
    before: int = 16
    """Earlier rows in which every weight moved: then the share of `arose`, in `soon` rows, is enough."""
    none: float = 1e-3
    """Share that counts as none."""
    arose: float = 0.1
    """Share that no weights without a use explain: embeddings of words that are no longer met are fewer. No run of
    TRL's GRPO without a fault, of 609, comes to half of it after rows without any."""
    soon: int = 3
    """Rows in a row that must show it, where all weights had moved."""


RISES = synth.clipped(synth.ramp(-0.3, 0.4), 0, 1)
CASES = (
    fires("bfloat16 weights at a rate of 1e-6", lambda: GRPO({STILL: synth.clipped(synth.flat(0.97, 0.01), 0, 1)})),
    fires("from half-way on", lambda: GRPO({STILL: synth.after(0.5, synth.constant(0.9), synth.constant(0.0))})),
    fires("bits are lost by degrees", lambda: GRPO({STILL: synth.after(0.5, RISES, synth.constant(0.0))})),
    near_miss(
        "words that are no longer met",
        lambda: GRPO({STILL: synth.after(0.5, synth.constant(0.06), synth.constant(0.0))}),
    ),
    healthy("32 bits", lambda: GRPO({STILL: synth.constant(1e-4)})),
    near_miss(
        "a rate of 0 at the end of a schedule",
        lambda: GRPO({STILL: synth.jump(0.0, 1.0, 0.8, 0.0), RATE: synth.jump(1e-6, 0.0, 0.8, 0.0)}),
    ),
    near_miss(
        "three skipped steps on end",
        lambda: GRPO({STILL: synth.spikes(0.0, 1.0, at=(0.5, 0.505, 0.51, 0.515), noise=0.0)}),
    ),
    near_miss("skipped steps", lambda: GRPO({STILL: synth.spikes(0.0, 1.0, at=(0.2, 0.5, 0.8), noise=0.0)})),
    near_miss(
        "weights that the optimiser does not hold",
        lambda: GRPO({STILL: synth.constant(0.6), HELD: synth.constant(0.4)}),
    ),
)


@rule(
    "NUM030",
    "steps-lost-in-rounding",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(
        STILL,
        RATE,
    ),
    min_points=8,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "weights-hardly-move",
        "reward-flat",
        "policy-frozen",
        "reference-is-policy",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Most steps of the optimiser are lost in the rounding of the weights.

    What it means:
        Weights with a gradient are the same after a step, bit for bit: their change is smaller than half a unit
        in the last place of the format in which they are kept.

    Why it matters:
        Only large steps and small weights get through. Learning is slower than the learning rate says, or
        stands still, and the loss does not show it.

    Usual causes:
        A model loaded in bfloat16 and trained without a copy in 32 bits; a rate far too small for the format;
        weights that are quantised after each step.

    What to try:
        Keep the weights that the optimiser holds in float32 (load the model in float32 and train with
        autocast); or an optimiser with stochastic rounding or Kahan summation.

    When it is harmless:
        With stochastic rounding, where a step moves few weights, but on average by the right amount.

    References:
        Zamirai et al. 2020, arXiv 2010.06192 (rounding of weights in bfloat16, and both remedies).
    """
    still, rate, held = view.get(STILL), view.get(RATE), view.get(HELD)
    assert still is not None
    assert rate is not None
    at = np.interp(still.step, rate.step, rate.value)
    # What the optimiser does not hold stays by design; a rate that warms up or has run out explains the rest.
    others = 0.0 if held is None or not len(held) else 1.0 - np.interp(still.step, held.step, held.value)
    lost = (still.value - others >= params.still) & (at > 0.01 * rate.max)
    onset = persistent_onset(still.step, lost, params.rows)
    if onset is None:
        opening = still.value[: params.before]
        # A step that leaves all of them is one that was skipped.
        lost = (still.value - others >= params.arose) & (still.value < 1) & (at > 0.01 * rate.max)
        moved = opening.size == params.before and float(opening.max()) <= params.none
        onset = persistent_onset(still.step, lost, params.soon) if moved else None
    if onset is None:
        return None
    share = median(still.value[lost])
    return Detection(
        message=f"a step leaves {share:.0%} of the weights that have a gradient as they were, bit for bit",
        onset=view.onset(*onset),
        metric=STILL,
        evidence={"still_frac": share, "learning_rate": float(at[-1])},
    )
