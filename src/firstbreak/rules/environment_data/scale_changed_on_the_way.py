"""The rule `scale-changed-on-the-way`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import Points, RunView

SCALE = "obs/scale_median"
OBS, COPY, ACTION = "data/obs_shift", "data/obs_copy_shift", "data/action_shift"
FITS = {OBS: "data/obs_fit", COPY: "data/obs_copy_fit", ACTION: "data/action_fit"}


@dataclass(frozen=True)
class Params:
    """Thresholds of `scale-changed-on-the-way`; engineering defaults where no source is named."""

    far: float = 0.2
    """Least shift, in standard deviations. Engineering default: a policy does not notice less."""
    times: float = 8.0
    """Over the largest of the rows before. A normaliser's statistics move ever less: four healthy runs with one
    reached 3.3, two in which it began anew 14.6 and more (live campaigns of 2026-11-26)."""
    before: int = 12
    """Rows before that are asked, at most."""
    least: int = 8
    """Rows before, at least: a normaliser has settled by then, as it moves by one part in the steps it saw."""
    fit: float = 0.8
    """Share of the observations' variance that must still follow from the environment's in that row, as in
    `observations-not-as-given`: else they are others, and no other scale."""
    apart: float = 4.0
    """Times the standard deviations that do not follow in that row, which the shift must be: what misses much says
    little of scale and offset. Two unbroken rows of the live lists came to 1.4 and 3.0, rows that hold both scales of
    a broken one to 6.6 and more (2026-11-27)."""
    noise: float = 1e-3
    """Shift, in standard deviations, that rounding may make."""


PPO = synth.like("PPO")
FOLLOWED = synth.geometric(0.2, 0.005, 0.2)
CASES = (
    fires(
        "a normaliser that begins anew",
        lambda: PPO({OBS: synth.spikes(0.01, 0.5, (0.6,), 0.001), FITS[OBS]: synth.spikes(1.0, 0.99, (0.6,), 0.0)}),
    ),
    fires("actions are cut to a third, half-way", lambda: PPO({ACTION: synth.spikes(1e-7, 2.0, (0.5,), 0.0)})),
    fires(
        "the normalisers of all copies begin anew",
        lambda: PPO({OBS: synth.clipped(synth.flat(0.15, 0.05), 0, 9), COPY: synth.spikes(0.01, 0.6, (0.6,), 0.001)}),
    ),
    healthy("a normaliser that settles", lambda: PPO({OBS: FOLLOWED})),
    healthy(
        "copies with a normaliser each", lambda: PPO({OBS: synth.clipped(synth.flat(0.15, 0.05), 0, 9), COPY: FOLLOWED})
    ),
    healthy("no normaliser", lambda: PPO({OBS: synth.constant(1e-7)})),
    near_miss("a wrapper that is no scale: far in every row", lambda: PPO({OBS: synth.flat(0.5, 0.2)})),
    near_miss(
        "observations of other steps",
        lambda: PPO({OBS: synth.spikes(1e-7, 2.0, (0.6,), 0.0), "data/obs_fit": synth.spikes(1.0, 0.1, (0.6,), 0.0)}),
    ),
    near_miss(
        "observations that hardly vary at present",
        lambda: PPO({OBS: synth.spikes(0.01, 0.5, (0.6,), 0.001), SCALE: synth.spikes(0.8, 0.2, (0.6,), 0.01)}),
    ),
    near_miss(
        "a row that hardly tells of scales",
        lambda: PPO({OBS: synth.spikes(0.01, 0.6, (0.6,), 0.001), FITS[OBS]: synth.spikes(1.0, 0.85, (0.6,), 0.0)}),
    ),
    near_miss("a small move", lambda: PPO({OBS: synth.spikes(0.01, 0.1, (0.6,), 0.001)})),
)


@rule(
    "ENV114",
    "scale-changed-on-the-way",
    link=Link.ENVIRONMENT_DATA,
    component=Component.NORMALISER,
    severity=Severity.ERROR,
    any_of=((OBS, COPY, ACTION),),
    min_points=9,
    params=Params(),
    cases=CASES,
    implies=(
        "ends-not-reset",
        "observations-not-as-given",
        "actions-not-as-stored",
        "rollout-of-other-states",
        "policy-moves-at-once",
        "critic-moves-at-once",
        "value-loss-explosion",
        "critic-loss-leaps",
        "critic-fit-lost",
        "explained-variance-collapse",
        "kl-overshoot",
        "return-falls-at-once",
        "return-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Between environment and policy, observations or actions are scaled otherwise than a row before.

    What it means:
        What the policy is trained on follows from what the environment gave by a scale and an offset a number. Those
        hardly moved from row to row, and then did by a good part of a standard deviation; the environment is as it was.

    Why it matters:
        The policy sees another world than the one it learnt in, or moves it otherwise than it learnt to.

    Usual causes:
        A normaliser whose statistics begin anew (at a resume, in a new copy) or are taken of other data; units or
        bounds changed in a wrapper; entries that change places.

    What to try:
        Print the mean and variance that observations are normalised by, now and in the last checkpoint.

    When it is harmless:
        Never while the same policy is trained on.

    References:
        Andrychowicz et al. 2021, arXiv 2006.05990, section 3.4 (normalisation of observations).
    """
    seen = "observations are"
    for name, what in ((OBS, seen), (COPY, seen), (ACTION, "actions are")):
        points = view.get(name)
        place = None if points is None else leapt(view, name, points, params)
        if points is None or place is None:
            continue
        shift = float(points.value[place])
        return Detection(
            message=f"{what} {shift:.2g} standard deviations from the scale of the row before, which hardly moved",
            onset=view.onset(float(points.step[place - 1]), float(points.step[place])),
            metric=name,
            evidence={"shift": shift, "largest_before": float(points.value[:place][-params.before :].max())},
        )
    return None


def leapt(view: RunView, name: str, points: Points, params: Params) -> int | None:
    """Return the first row that is far from those before, and follows from the environment all the same."""
    value, fit, scale = points.value, view.get(FITS[name]), None if name == ACTION else view.get(SCALE)
    for place in np.flatnonzero(value >= params.far):
        before, at = value[:place][-params.before :], float(points.step[place])
        if before.size < params.least or (fit is not None and bool((fit.value[fit.step == at] < params.fit).any())):
            continue
        shift = float(value[place]) * narrowed(scale, float(points.step[place - 1]), at, params)
        least = max(params.far, params.times * max(float(before.max()), params.noise))
        if shift >= max(least, params.apart * missed(fit, at)):
            return int(place)
    return None


def missed(fit: Points | None, at: float) -> float:
    """Return how many standard deviations of the row at step `at` do not follow; 0 where that is not measured."""
    shares = () if fit is None else fit.value[fit.step == at]
    return max((max(1 - float(share), 0.0) ** 0.5 for share in shares), default=0.0)


def narrowed(scale: Points | None, since: float, at: float, params: Params) -> float:
    """Return how wide observations are in a row against those before, 1 at most.

    Observations that hardly vary at present (a pole that stands) make much of what a normaliser moves by.
    """
    if scale is None:
        return 1.0
    now = scale.value[(scale.step > since) & (scale.step <= at)]
    before = scale.value[scale.step <= since][-params.before :]
    return min(1.0, float(now.min()) / median(before)) if now.size and before.size and median(before) > 0 else 1.0
