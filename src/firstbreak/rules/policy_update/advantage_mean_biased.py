"""The rule `advantage-mean-biased`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import linear_trend, mad, median, persistent_onset
from firstbreak.view import RunView
from firstbreak.vocabulary import traits_of


@dataclass(frozen=True)
class Params:
    """Thresholds of `advantage-mean-biased`; engineering defaults where no source is named."""

    normalised: float = 0.1
    """Mean of normalised advantages, in standard deviations, that is no rounding: it is 0 by construction.
    Engineering default."""
    raw: float = 1.0
    """Mean of raw advantages, in standard deviations: past 1 the critic's offset outweighs what tells actions
    apart."""
    unit: float = 0.1
    """Distance of a spread from 1 within which advantages that the settings normalise may have been logged so."""
    of_unit: float = 0.9
    """Share of the rows with such a spread from which on they were: raw ones pass by 1 on their way."""
    updates: int = 5
    """Consecutive updates where advantages are normalised."""
    raw_updates: int = 20
    """Consecutive updates where they are raw, after as many at the start."""
    climbs: float = 3.0
    """Standard errors of the slope with which a critic's values go where raw advantages point: it learns, if slowly.
    Engineering default."""


MEAN, STD = "advantage/mean", "advantage/std"
PPO = synth.like("PPO")

CASES = (
    fires("normalised, yet off", lambda: PPO({MEAN: synth.flat(0.4), STD: synth.constant(1.0)})),
    fires("raw and far off", lambda: PPO({MEAN: synth.flat(50), STD: synth.flat(10)})),
    healthy("normalised", lambda: PPO({MEAN: synth.flat(0, 1e-7), STD: synth.constant(1.0)})),
    near_miss("raw, positive while improving", lambda: PPO({MEAN: synth.flat(3, 0.3), STD: synth.flat(10)})),
    near_miss(
        "logged raw, normalised for the loss",
        lambda: synth.like("PPO", config={"normalize_advantage": True})(
            {MEAN: synth.flat(3, 0.3), STD: synth.flat(10, 0.4)}
        ),
    ),
    near_miss(
        "logged raw, on a scale that comes down to 1 for a while",
        lambda: synth.like("PPO", config={"normalize_advantage": True}, n=8)(
            {MEAN: synth.flat(0.3, 0.03), STD: synth.ramp(1.3, 0.95, 0.02, until=0.3)}
        ),
    ),
    near_miss(
        "raw and far off, and 0 as it enters the loss",
        lambda: PPO({MEAN: synth.flat(50), STD: synth.flat(10), "advantage/normalised_mean": synth.flat(0, 1e-7)}),
    ),
    near_miss(
        "raw and far off: a slow critic that is still on its way to the returns",
        lambda: PPO({MEAN: synth.flat(-25), STD: synth.flat(16), "critic/value_mean": synth.ramp(-0.3, -2.3, 0.1)}),
    ),
    fires(
        "raw and far off, and values go nowhere",
        lambda: PPO({MEAN: synth.flat(-25), STD: synth.flat(16), "critic/value_mean": synth.flat(-2.3, 0.1)}),
    ),
    near_miss("raw, off in the first updates", lambda: PPO({MEAN: synth.ramp(60, 1, until=0.1), STD: synth.flat(10)})),
)


@rule(
    "POL011",
    "advantage-mean-biased",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.WARNING,
    needs=(MEAN,),
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("entropy-collapse", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The advantages of a batch do not average to 0, so all of its actions are pushed the same way.

    What it means:
        Normalised advantages have mean 0 by construction; raw ones should have a mean well inside their spread.

    Why it matters:
        A common offset raises or lowers every sampled action: entropy moves without any lesson learned.

    Usual causes:
        Normalisation over padded or filtered samples; normalisation of one batch used on another; a critic with an
        offset; advantages normalised twice with a shift between.

    What to try:
        Recompute mean and spread over exactly the samples that enter the loss.

    When it is harmless:
        Raw advantages are above 0 while the policy improves, by less than their spread. Nothing is said of raw ones
        while the critic's values go where they point: a critic that learns slowly has that offset until it is there.

    References:
        Schulman et al. 2016, arXiv 1506.02438. Huang et al. 2022, "The 37 implementation details of PPO".
    """
    mean, spread = view.get(MEAN), view.get(STD)
    assert mean is not None
    if spread is None or len(spread) == 0:
        return Skip("the mean means nothing without the spread", (STD,))
    unit = np.interp(mean.step, spread.step, spread.value)
    share = np.abs(mean.value) / np.maximum(unit, 1e-300)
    constant = len(spread) >= params.updates and mad(spread.value) <= 1e-3 * median(spread.value)
    # Groups are centred per response but logged per token, so longer responses weigh more and the mean is not 0.
    grouped = "groups" in traits_of(view.algorithm)
    # The setting says what enters the loss; what was logged may be the advantages before that.
    of_unit = float((np.abs(spread.value - 1.0) <= params.unit).mean()) >= params.of_unit
    centred = bool(view.config("normalize_advantage"))
    normalised = not grouped and (constant or (centred and of_unit))
    entered = view.get("advantage/normalised_mean")
    taken_away = entered is not None and len(entered) > 0 and median(np.abs(entered.value)) <= params.normalised
    if (centred or taken_away) and not normalised:
        return None  # logged before the normalisation that takes the offset away
    if normalised:
        over = persistent_onset(mean.step, (share > params.normalised) & (unit > 0), params.updates)
    else:
        judged = np.arange(len(mean)) >= params.raw_updates
        over = persistent_onset(mean.step, judged & (share > params.raw) & (unit > 0), params.raw_updates)
    if over is None or (not normalised and on_its_way(view, median(mean.value[mean.step >= over[1]]), params)):
        return None
    now = median(share[mean.step >= over[1]])
    return Detection(
        message=f"mean of the {'normalised' if normalised else 'raw'} advantages is {now:.2g} standard deviations",
        onset=view.onset(*over),
        metric=mean.metric,
        evidence={"mean_in_spreads": now, "normalised": normalised},
    )


def on_its_way(view: RunView, offset: float, params: Params) -> bool:
    """Whether the critic's values go where advantages of mean `offset` point, all along or of late; unknown: no."""
    value = view.get("critic/value_mean")
    if value is None or len(value) < 2 * params.updates:
        return False
    lines = [linear_trend(value.step[start:], value.value[start:]).z for start in (0, len(value) // 2)]
    return max(np.sign(offset) * z for z in lines) >= params.climbs
