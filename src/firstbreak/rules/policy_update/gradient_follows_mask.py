"""The rule `gradient-follows-mask`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import linear_trend
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `gradient-follows-mask`: engineering defaults, except where a source is named."""

    slope: tuple[float, float] = (0.6, 1.5)
    """Slope of log gradient norm over log kept share. 1 where the loss is divided by what was sampled; 0 or slightly
    negative (-1/2 of pure noise) where it is divided by what is kept."""
    z: float = 5.0
    """Slope over its standard error. Engineering default."""
    spread: float = 0.15
    """Least standard deviation of the log of the kept share. Engineering default."""
    rows: int = 24
    """Rows with both."""


GRPO = synth.like("GRPO")

KEPT, NORM = "group/kept_fraction", "optim/grad_norm"


def swinging(base: float, factor: float, power: float = 1.0) -> synth.Shape:
    """`base` times a factor that goes up and down, taken to a power."""
    return lambda t, rng: base * np.exp(power * factor * np.sin(97 * t))


CASES = (
    fires("divided by what was sampled", lambda: GRPO({KEPT: swinging(0.5, 0.5), NORM: swinging(0.3, 0.5)})),
    healthy("divided by what is kept", lambda: GRPO({KEPT: swinging(0.5, 0.5)})),
    near_miss("fewer samples, more noise", lambda: GRPO({KEPT: swinging(0.5, 0.5), NORM: swinging(0.3, 0.5, -0.5)})),
    near_miss("nearly all kept", lambda: GRPO({KEPT: synth.clipped(synth.flat(0.95, 0.01), 0, 1)})),
)


@rule(
    "POL030",
    "gradient-follows-mask",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    needs=(KEPT, NORM),
    when=("groups",),
    min_points=24,
    implies=("accumulation-window-mismatch",),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The size of the gradient follows the share of samples that survive the filter.

    What it means:
        Gradient norm and kept share rise and fall in proportion: the loss is divided by all samples, also the rejected
        and masked ones.

    Why it matters:
        The effective learning rate depends on how many prompts happen to be too easy or too hard; it fades as more are
        filtered.

    Usual causes:
        A denominator counted before the filter or the mask; advantages normalised with the zeros of rejected samples.

    What to try:
        Divide by the tokens or samples that are kept; compare the gradient of one batch with and without rejected ones.

    When it is harmless:
        Where the method divides by a constant on purpose (Dr. GRPO) and the learning rate was chosen for it.

    References:
        THUDM/slime issue 657. Liu et al. 2025, arXiv 2503.20783.
    """
    kept, norm = view.get(KEPT), view.get(NORM)
    assert kept is not None
    assert norm is not None
    common = sorted(set(kept.step.tolist()) & set(norm.step.tolist()))
    if len(common) < params.rows:
        return None
    share, size = kept.value[np.isin(kept.step, common)], norm.value[np.isin(norm.step, common)]
    usable = (share > 0) & (size > 0)
    if int(usable.sum()) < params.rows:
        return None
    x, y = np.log(share[usable]), np.log(size[usable])
    if float(x.std()) < params.spread:
        return None
    order = np.argsort(x, kind="stable")
    line = linear_trend(x[order], y[order])
    slope = line.change / float(x.max() - x.min())
    if not params.slope[0] <= slope <= params.slope[1] or line.z < params.z:
        return None
    return Detection(
        message=f"gradient norm grows as the kept share to the power {slope:.2f}; it should not depend on it",
        onset=view.onset(common[0], common[len(common) // 2]),
        metric=NORM,
        evidence={"slope": slope, "z": line.z, "kept_median_frac": float(np.median(share))},
    )
