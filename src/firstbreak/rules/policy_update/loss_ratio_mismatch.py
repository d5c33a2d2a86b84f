"""The rule `loss-ratio-mismatch`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.policy_update.kl_clip_inconsistent import clip_range
from firstbreak.series import Floats
from firstbreak.stats import median, persistent_onset
from firstbreak.view import Points, RunView

VARIANCE, MEAN = "policy/ratio_var", "policy/ratio_mean"
LOSS, CLIPPED, SPREAD = "policy/loss", "policy/clip_fraction", "advantage/normalised_std"


@dataclass(frozen=True)
class Params:
    """Thresholds of `loss-ratio-mismatch`."""

    of_loss: float = 1.0
    """Loss over the root of E[(ratio - 1)^2]. By definition at most 1 for advantages of mean 0 and spread 1
    (inequality of Cauchy and Schwarz); healthy runs stay below 0.3."""
    of_clipped: float = 2.0
    """Clip fraction over E[(ratio - 1)^2] / range^2, at most 1 by definition (inequality of Chebyshev). Twice that,
    since it is averaged over the update and the ratio is taken at its end. Engineering default."""
    rows: int = 8
    """Rows on end. Engineering default: the shortest stretch with a stated error."""
    rounding: float = 1e-9
    """Variance of a ratio that single precision cannot tell from 0. By definition: a few times 2^-24, squared, over a
    batch."""
    floor_frac: float = 1e-3
    """Clip fraction that is next to nothing. Engineering default."""


PPO = synth.like("PPO", config={"normalize_advantage": True, "clip_range": 0.2})
STILL = {VARIANCE: synth.geometric(1e-6, 1e-6, 0.2), CLIPPED: synth.constant(0.0)}
CASES = (
    fires("a loss that the ratios cannot give", lambda: PPO(STILL | {LOSS: synth.flat(-0.02, 0.1)})),
    fires(
        "half is clipped of ratios that are all near 1",
        lambda: PPO({VARIANCE: synth.geometric(1e-3, 1e-3, 0.2), CLIPPED: synth.flat(0.5, 0.1)}),
    ),
    healthy("as it should be", lambda: PPO({VARIANCE: synth.geometric(0.01, 0.01, 0.2)})),
    near_miss("steps that vanish, and the loss with them", lambda: PPO(STILL | {LOSS: synth.flat(-2e-5, 0.5)})),
    near_miss(
        "advantages that are not normalised",
        lambda: synth.like("PPO", config={"normalize_advantage": False})(STILL | {LOSS: synth.flat(-0.5, 0.1)}),
    ),
    near_miss(
        "large early steps that later ones take back",
        lambda: PPO({VARIANCE: synth.geometric(0.004, 0.004, 0.2), CLIPPED: synth.flat(0.12, 0.1)}),
    ),
)


@rule(
    "POL041",
    "loss-ratio-mismatch",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs=(VARIANCE,),
    any_of=((LOSS, CLIPPED),),
    when=("ppo_clip", "control"),
    min_points=8,
    params=Params(),
    cases=CASES,
    implies=("kl-clip-inconsistent", "entropy-stuck-high", "reward-flat", "return-collapse", "value-loss-explosion"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Loss or clip fraction cannot come from the ratios of the policies before and after the update.

    What it means:
        With normalised advantages the loss is a covariance of ratio and advantage: at most the spread of the ratio. And
        no more samples can lie beyond the clip range than that spread allows. One of the two is broken, row after row.

    Why it matters:
        The loss that is optimised is not the one of its name: its ratios are taken of other pairs than action and
        sample, and its gradient points elsewhere.

    Usual causes:
        Old log-probabilities as a column beside new ones as a row, so that every pair is formed; a ratio of summed
        log-probabilities; old log-probabilities of another batch, or shuffled.

    What to try:
        Print the shapes of old and new log-probabilities, ratio and advantages in one minibatch: all must be equal.

    When it is harmless:
        Where the logged policy loss holds other terms (an entropy bonus, a penalty).

    References:
        Schulman et al. 2017, arXiv 1707.06347, equation 7. The bounds are by definition (Cauchy-Schwarz, Chebyshev).
    """
    variance, loss, clipped = view.get(VARIANCE), view.get(LOSS), view.get(CLIPPED)
    assert variance is not None
    spread = np.sqrt(off_one(variance, view.get(MEAN)) + params.rounding)
    if loss is not None and normalised(view):
        found = beyond(view, loss, variance.step, params.of_loss * spread, params)
        if found is not None:
            return found
    if clipped is None:
        return None if normalised(view) else Skip("it is not known that advantages are normalised", (CLIPPED,))
    limit = params.of_clipped * ((spread / clip_range(view)) ** 2 + params.floor_frac)
    return beyond(view, clipped, variance.step, limit, params)


def off_one(variance: Points, mean: Points | None) -> Floats:
    """E[(ratio - 1)^2] [n] at the rows of `variance`."""
    if mean is None or not len(mean):
        return np.maximum(variance.value, 0.0)
    return np.maximum(variance.value, 0.0) + (np.interp(variance.step, mean.step, mean.value) - 1) ** 2


def normalised(view: RunView) -> bool:
    """Whether advantages have mean 0 and spread 1: as configured, or as logged."""
    spread = view.get(SPREAD)
    if spread is not None and len(spread):
        return abs(median(spread.value) - 1) < 0.1
    return str(view.config("normalize_advantage", "")).lower() in ("true", "1")


def beyond(view: RunView, points: Points, at: Floats, limit: Floats, params: Params) -> Detection | None:
    """Say so where `points` lie beyond `limit` [n], given at the steps `at` [n]."""
    step, here, there = np.intersect1d(points.step, at, return_indices=True)
    size, most = np.abs(points.value[here]), limit[there]
    onset = persistent_onset(step, size > most, params.rows)
    if onset is None:
        return None
    over = step >= onset[1]
    now, allowed = median(size[over]), median(most[over])
    what = "the policy loss" if points.metric == LOSS else "the clip fraction"
    return Detection(
        message=f"{what} is {now:.2g} in size; the logged ratios allow {allowed:.2g}",
        onset=view.onset(*onset),
        metric=points.metric,
        evidence={"size": now, "allowed": allowed},
    )
