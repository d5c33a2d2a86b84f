"""The rule `world-slips-away`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.at_once import weights_thrown
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median, quantile
from firstbreak.stats.change import largest_of
from firstbreak.view import RunView

PREDICTED, RESPONSE = "env/predicted_frac", "env/action_response"
GAUSSIAN = 1.4826
"""Standard deviations of a Gaussian in one median absolute deviation."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `world-slips-away`, set on 1,053 recorded runs (development half and live campaigns, corpus of
    2026-11-26): no unbroken one passes them."""

    early: int = 16
    """First rows, in which the models of the world learn."""
    rows: int = 8
    """Rows after those that say what is usual: the shortest stretch with a stated error."""
    lasts: int = 2
    """Rows in a row in which both models must do worse than ever: each alone does so in healthy runs that swing
    through states they never met."""
    followed: float = 0.8
    """Share of the next observation, and agreement with what actions do, that the lowest tenth of earlier rows
    reached: a model that was never right cannot become wrong."""
    foreseen: float = 0.9
    """Share that is foreseen still, and agreement with what actions do, from which on the policy may have gone where
    observations are larger; the bound of `dynamics-changed`."""
    spreads: float = 3.0
    """Spreads by which both lie under their median of late: a slow change has to leave the noise."""
    late: int = 32
    """Last rows that say what that median and spread are."""
    fine: tuple[float, float] = (1e-3, 1e-2)
    """Least spread of each: a model that is all but perfect has next to none."""


PPO = synth.like("PPO")
KNOWN = {
    PREDICTED: synth.clipped(synth.flat(0.95, 0.005), -1, 1),
    RESPONSE: synth.clipped(synth.flat(0.9, 0.02), -1, 1),
}
FORESEEN_LESS = synth.clipped(synth.ramp(0.95, 0.4, 0.005, begin=0.6, until=0.8), -1, 1)
ACT_LESS = synth.clipped(synth.ramp(0.9, 0.3, 0.02, begin=0.6, until=0.8), -1, 1)
CASES = (
    fires("actions arrive ever later", lambda: PPO({PREDICTED: FORESEEN_LESS, RESPONSE: ACT_LESS})),
    healthy("the same world throughout", lambda: PPO(KNOWN)),
    near_miss("a policy swings through states it never met", lambda: PPO(KNOWN | {PREDICTED: FORESEEN_LESS})),
    near_miss("a policy moves to where actions do little else", lambda: PPO(KNOWN | {RESPONSE: ACT_LESS})),
    near_miss(
        "nine tenths are foreseen still",
        lambda: PPO({PREDICTED: synth.clipped(synth.ramp(0.99, 0.92, 0.001, begin=0.6), -1, 1), RESPONSE: ACT_LESS}),
    ),
    near_miss(
        "a world that was never understood",
        lambda: PPO({PREDICTED: synth.clipped(synth.ramp(0.5, 0.1, 0.02, begin=0.6), -1, 1), RESPONSE: ACT_LESS}),
    ),
    near_miss(
        "a curriculum",
        lambda: PPO(
            {PREDICTED: FORESEEN_LESS, RESPONSE: ACT_LESS, "env/curriculum@level": synth.ramp(0, 9, 0.0, begin=0.5)}
        ),
    ),
    near_miss(
        "weights were thrown about, and the policy with them",
        lambda: PPO(
            {
                PREDICTED: synth.after(0.6, synth.flat(0.3, 0.1), KNOWN[PREDICTED]),
                RESPONSE: synth.after(0.6, synth.flat(0.2, 0.1), KNOWN[RESPONSE]),
                "optim/outside_change_frac": synth.spikes(0.0, 0.6, (0.6,)),
            }
        ),
    ),
)


@rule(
    "ENV090",
    "world-slips-away",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    needs=(PREDICTED, RESPONSE),
    min_points=26,
    params=Params(),
    cases=CASES,
    implies=(
        "return-collapse",
        "return-falls-at-once",
        "explained-variance-collapse",
        "value-loss-explosion",
        "critic-not-learning",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The next observation, and what actions change in it, are both foreseen worse than ever before, a little at first.

    What it means:
        Two models, learned from all earlier steps, fail in the same rows: the one of what follows, and the one of what
        an action does. A policy that goes elsewhere leaves at most one of them behind.

    Why it matters:
        Actuators, sensors and links wear out by degrees. No single row errs many times as much as before, and by the
        time that the return tells, policy and critic have learned from a world that is gone.

    Usual causes:
        Actions that arrive ever later or weaker; a sensor that lags or is smoothed; a simulator or controller that
        falls behind; observations that are shown for other steps.

    What to try:
        Play the same actions from the same seed now and as at the start of the run, and compare observations step by
        step.

    When it is harmless:
        Domain randomisation or another level that you switched on yourself: log `env/curriculum`.

    References:
        Ljung 1999, "System Identification", section 11.2 (prediction errors of a model that is fitted on the way).
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes the world")
    share, response = view.get(PREDICTED), view.get(RESPONSE)
    assert share is not None
    assert response is not None
    step, here, there = np.intersect1d(share.step, response.step, return_indices=True)
    foreseen, like = share.value[here], response.value[there]
    for place in worse_than_ever(foreseen, like, params):
        if weights_thrown(view, float(step[place])) or not all(
            far_below(values, place, fine, params) for values, fine in zip((foreseen, like), params.fine, strict=True)
        ):
            continue
        return Detection(
            message=f"{foreseen[place]:.0%} of the next observation is foreseen, and actions act as never before",
            onset=view.onset(float(step[place - 1]), float(step[place])),
            metric=PREDICTED,
            evidence={
                "predicted_frac": float(foreseen[place]),
                "least_before": float(foreseen[params.early : place].min()),
                "action_response": float(like[place]),
                "least_response_before": float(like[params.early : place].min()),
            },
        )
    return None


def worse_than_ever(foreseen: Floats, like: Floats, params: Params) -> list[int]:
    """Return the places from which both [n] lie under all their rows since the models had learned."""
    first = params.rows  # counted from the end of the opening
    late = foreseen[params.early :], like[params.early :]
    if late[0].size < first + params.lasts:
        return []
    now = [largest_of(value, params.lasts) for value in late]
    least = [np.minimum.accumulate(value)[first - 1 :][: now[0].size - first] for value in late]
    worse = (now[0][first:] < least[0]) & (now[1][first:] < least[1])
    worse &= np.maximum(*now)[first:] < params.foreseen
    return (np.flatnonzero(worse) + first + params.early).tolist()


def far_below(value: Floats, place: int, fine: float, params: Params) -> bool:
    """Whether `value` [n] was high until row `place`, and lies many of its own spreads under its median from there."""
    if quantile(value[params.early : place], 0.1) < params.followed:
        return False
    late = value[max(place - params.late, params.early) : place]
    usual = median(late)
    spread = GAUSSIAN * median(np.abs(late - usual)) + fine
    return bool(float(value[place : place + params.lasts].max()) <= usual - params.spreads * spread)
