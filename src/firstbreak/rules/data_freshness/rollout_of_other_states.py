"""The rule `rollout-of-other-states`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import Points, RunView

RATIO, LOSS, FIT = "policy/ratio_first_minibatch", "critic/loss", "critic/explained_variance"


@dataclass(frozen=True)
class Params:
    """Thresholds of `rollout-of-other-states`; engineering defaults where no source is named."""

    held: int = 16
    """Updates on end in which the first ratio was 1 to float precision."""
    exact: float = 1e-4
    """What float precision is, as in `ratio-off-at-first-minibatch`."""
    left: float = 1e-3
    """Distance that the ratio then has, in `lasts` updates on end; also from there."""
    lasts: int = 3
    """Updates on end."""
    before: int = 8
    """Updates before it that say what is usual of the critic."""
    loss: float = 1.5
    """Least loss of the critic in each of `lasts` updates, over the usual. Rollouts with log-probabilities of another
    policy reached 1.06 at most, those with other observations 1.77 and more (live campaigns of 2026-11-26)."""
    fit: float = 0.3
    """Explained variance that the values kept with rollouts must usually have, to say anything."""
    kept: float = 0.75
    """Share of it that is left: values and returns of the rollout fit as before."""


PPO = synth.like("PPO")
EXACT = synth.flat(1.0, 1e-6)
OFF = synth.after(0.6, synth.flat(0.9, 0.04), EXACT)
FITS = synth.flat(0.75, 0.03)
CASES = (
    fires(
        "observations of the rollout before",
        lambda: PPO({RATIO: OFF, LOSS: synth.jump(0.13, 0.32, at=0.6, noise=0.01), FIT: FITS}),
    ),
    healthy("as it should be", lambda: PPO({RATIO: EXACT, LOSS: synth.flat(0.13, 0.01), FIT: FITS})),
    near_miss(
        "log-probabilities of another policy: the critic learns as before",
        lambda: PPO({RATIO: OFF, LOSS: synth.flat(0.13, 0.01), FIT: FITS}),
    ),
    near_miss(
        "the critic is lost as well",
        lambda: PPO({RATIO: OFF, LOSS: synth.jump(0.13, 0.32, at=0.6, noise=0.01), FIT: synth.jump(0.75, 0.1, at=0.6)}),
    ),
)


@rule(
    "DAT048",
    "rollout-of-other-states",
    link=Link.DATA_FRESHNESS,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    needs=(RATIO, LOSS, FIT),
    when=("on_policy",),
    min_points=20,
    params=Params(),
    cases=CASES,
    implies=(
        "ratio-off-at-first-minibatch",
        "kl-overshoot",
        "clip-fraction-high",
        "ratio-tail",
        "ratio-off-one",
        "kl-clip-inconsistent",
        "policy-moves-at-once",
        "return-collapse",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """What is learnt from is not what was seen: policy and critic both fail on the observations of a rollout.

    What it means:
        Before the first step of an update the weights are those that acted, so that ratios are 1, and the loss of the
        critic is what its values were off by. From one update on both are wrong together, while the values that were
        kept with the rollout fit its returns as well as ever: the observations beside them are other ones.

    Why it matters:
        Every gradient pairs the states of one time with the actions, advantages and returns of another.

    Usual causes:
        An array that is written over or filled late; a buffer whose columns are shuffled or shifted apart; observations
        that are normalised anew between acting and learning.

    What to try:
        For one rollout, compute values and log-probabilities from the stored observations, and hold them against the
        stored ones before any step.

    When it is harmless:
        Never: whatever is learnt is learnt of other states.

    References:
        None; the rule compares two quantities that are equal by construction.
    """
    ratio, loss, fit = view.get(RATIO), view.get(LOSS), view.get(FIT)
    assert ratio is not None
    assert loss is not None
    assert fit is not None
    place = left_one(ratio, params)
    if place is None:
        return None
    at = float(ratio.step[place])
    usual, now = around(loss, at, params)
    known, still = around(fit, at, params)
    if min(usual.size, known.size) < params.before or min(now.size, still.size) < params.lasts:
        return None
    if now.min() < params.loss * median(usual) or known.min() < 0 or median(known) < params.fit:
        return None
    if still.min() < params.kept * median(known):
        return None
    return Detection(
        message=f"at the first ratio of {ratio.value[place]:.3g} the critic's loss went from {median(usual):.2g} to "
        f"{median(now):.2g}; its values fit returns as before",
        onset=view.onset(float(ratio.step[place - 1]), at),
        metric=LOSS,
        evidence={"ratio": float(ratio.value[place]), "loss_before": median(usual), "loss_now": median(now)},
    )


def left_one(ratio: Points, params: Params) -> int | None:
    """Return the first of some updates on end at which a ratio that had been 1 to float precision is another."""
    off = np.abs(ratio.value - 1)
    if off.size < params.held + params.lasts or float(off[: params.held].max()) > params.exact:
        return None
    far = off > params.left
    for place in np.flatnonzero(far[params.held :]) + params.held:
        if far[place : place + params.lasts].sum() == params.lasts:
            return int(place)
    return None


def around(points: Points, at: float, params: Params) -> tuple[Floats, Floats]:
    """Return the values just before step `at`, and those from it on."""
    return points.value[points.step < at][-params.before :], points.value[points.step >= at][: params.lasts]
