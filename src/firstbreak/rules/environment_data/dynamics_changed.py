"""The rule `dynamics-changed`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.at_once import weights_thrown
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import borne_out, quantile, surpassed
from firstbreak.stats.change import largest_of, least_of
from firstbreak.view import Points, RunView

SURPRISE, PREDICTED, RESPONSE = "env/dynamics_surprise", "env/predicted_frac", "env/action_response"


@dataclass(frozen=True)
class Params:
    """Thresholds of `dynamics-changed`. Engineering defaults, set where of 60 times that the policy of one of 15
    Gymnasium environments was exchanged for an unrelated one, one passed them."""

    rows: int = 8
    """Earlier rows that say what is usual: the shortest stretch with a stated error."""
    least: float = 8.0
    """Times the usual error: a policy that goes where it never was mostly stays below 5."""
    times: float = 2.0
    """How many times the largest earlier value the rows now must reach."""
    decisive: float = 3.0
    """How many times that bar one row alone must reach; one that came early needs the next beside it."""
    lasts: int = 3
    """Rows in a row that must show it, unless one alone is decisive. A policy that swings through states it never met
    errs ten times as much in two (a twin of the live campaign, 2026-11-25); a world that changed, in three and more."""
    both: int = 2
    """The same where what actions do is unlike any row before as well, as a model of its own says, ..."""
    sure: float = 2.0
    """... and where each row reaches this many times that bar. Of 435 healthy runs and hard negatives of the
    development half and 103 twins of the live campaigns (2026-11-26) none does; one of the twins reaches the bar."""
    early: int = 16
    """First rows in which the model learns: one odd row says nothing yet."""
    again: int = 5
    """How many of them must err by `least` for the dynamics to change again and again. In healthy runs up to 3 do."""
    followed: float = 0.8
    """Share of the next observation that earlier rows foresaw (their lowest tenth), for its loss to tell."""
    lost: float = 0.25
    """Share that is left of it, in `lasts` rows in a row, where nothing follows any more. Of 487 healthy runs of the
    benchmarks (dev half and twins of the live campaigns, 2026-11-25) one falls to 0.34 and none lower."""
    foreseen: float = 0.9
    """Share that is foreseen still, where the size of an error says nothing: the policy went where observations are
    larger, and errors with them. In 72 recorded runs (corpus of 2026-11-26) whose error left all before, a world that
    changed leaves 0.86 or less in the first row or the second; three policies that moved kept 0.95 and more."""
    nothing: float = 0.0
    """Share at which two rows are enough: the mean of all observations would have been a better guess ..."""
    odd: float = 2.0
    """... and both err this many times as much as any row before. Of the same healthy runs one has two such rows, which
    err less than 1.5 times as much."""


PPO = synth.like("PPO")
USUAL = synth.clipped(synth.flat(0.9, 0.3), 0, 99)
ONCE = synth.clipped(synth.spikes(0.9, 8.0, (0.6,), noise=0.2), 0, 99)
GONE = synth.clipped(synth.after(0.6, synth.flat(-0.3, 0.1), synth.flat(0.95, 0.02)), -1, 1)
THROWN = synth.spikes(0.0, 0.6, (0.6,))
TWICE = synth.clipped(synth.spikes(0.9, 20.0, (0.597, 0.606), 0.2), 0, 99)
UNLIKE = synth.clipped(synth.spikes(0.9, -1.2, (0.597, 0.606), 0.03), -1, 1)
CASES = (
    fires(
        "entries of the observation change places",
        lambda: PPO({"env/dynamics_surprise": synth.after(0.6, synth.flat(40.0, 0.2), USUAL)}),
    ),
    fires(
        "other dynamics after each reset, from the start",
        lambda: PPO({"env/dynamics_surprise": synth.spikes(0.9, 15.0, (0.02, 0.04, 0.06, 0.08, 0.1), noise=0.2)}),
    ),
    fires(
        "observations of other steps are shown, where they were never foreseen well",
        lambda: PPO({SURPRISE: synth.after(0.6, synth.flat(4.0, 0.2), USUAL), PREDICTED: GONE}),
    ),
    fires(
        "two rows, in which what actions do is unlike any before as well",
        lambda: PPO({SURPRISE: TWICE, RESPONSE: UNLIKE}),
    ),
    near_miss(
        "two rows, in which actions do what they did now and then",
        lambda: PPO({SURPRISE: TWICE, RESPONSE: synth.clipped(synth.flat(0.4, 0.6), -1, 1)}),
    ),
    near_miss(
        "actions do something else, and all that follows is foreseen",
        lambda: PPO({SURPRISE: USUAL, RESPONSE: UNLIKE}),
    ),
    near_miss(
        "weights were thrown about, and the policy with them",
        lambda: PPO({SURPRISE: synth.after(0.6, synth.flat(40.0, 0.2), USUAL), "optim/outside_change_frac": THROWN}),
    ),
    near_miss(
        "two rows of a swing that the model does not know",
        lambda: PPO({SURPRISE: USUAL, PREDICTED: synth.clipped(synth.spikes(0.95, -0.9, (0.597, 0.606), 0.02), -1, 1)}),
    ),
    near_miss(
        "a world that never followed",
        lambda: PPO({SURPRISE: USUAL, PREDICTED: synth.clipped(synth.flat(0.2, 0.5), -1, 1)}),
    ),
    near_miss(
        "the first rows are new in kind",
        lambda: PPO({"env/dynamics_surprise": synth.spikes(0.9, 15.0, (0.02, 0.04), noise=0.2)}),
    ),
    healthy("the same dynamics throughout", lambda: PPO({"env/dynamics_surprise": USUAL})),
    near_miss(
        "one odd row",
        lambda: PPO({"env/dynamics_surprise": ONCE}),
    ),
    near_miss(
        "a policy swings through states it never met, in two rows",
        lambda: PPO({SURPRISE: synth.clipped(synth.spikes(0.9, 10.0, (0.597, 0.606), 0.2), 0, 99)}),
    ),
    near_miss(
        "a policy that reaches new states",
        lambda: PPO({"env/dynamics_surprise": synth.after(0.6, synth.flat(3.0, 0.3), USUAL)}),
    ),
    near_miss(
        "a policy throws itself far away, where all moves as foreseen",
        lambda: PPO(
            {
                SURPRISE: synth.clipped(synth.spikes(0.3, 40.0, (0.6,), noise=0.2), 0, 99),
                PREDICTED: synth.clipped(synth.spikes(1.0, 0.97, (0.6,), noise=0.001), -1, 1),
            }
        ),
    ),
)


@rule(
    "ENV020",
    "dynamics-changed",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    needs=(SURPRISE,),
    any_of=((SURPRISE, PREDICTED),),  # the second is looked at, too, where it is there
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "explained-variance-collapse", "value-loss-explosion", "critic-not-learning"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The next observation suddenly no longer follows from observation and action as it did before.

    What it means:
        A simple model, learned from all earlier steps, predicts the next observation; in these rows it errs many times
        as much as it ever did, or foresees next to nothing where it foresaw most.

    Why it matters:
        What policy and critic have learned is no longer true of this environment, or they no longer see it as they did.

    Usual causes:
        Observations whose entries changed places, units or delay; a simulator setting, frame skip or controller that
        changed; actions that are mirrored, rescaled or late; another level.

    What to try:
        Play the same actions from the same seed before and after, and compare observations step by step.

    When it is harmless:
        Domain randomisation or another level that you switched on yourself: log `env/curriculum`. Where weights were
        thrown about just before, the policy goes elsewhere: nothing is said; nor where errors grow and most of the next
        observation is foreseen as before.

    References:
        Ljung 1999, "System Identification", section 11.2 (prediction errors of a model that is fitted on the way).
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes the environment")
    points = view.get(SURPRISE)
    assert points is not None
    if len(points) <= params.rows:
        return Skip("too few rows to say what is usual")
    far = far_off(view, points, params) or twice_told(view, points, params)
    found = far or unforeseen(view, points, params) or again(view, points, params)
    if found is not None and weights_thrown(view, found.onset.hi):
        return Skip(
            "the weights were thrown about just before: the policy goes where nothing was learned", withholds=True
        )
    return found


def far_off(view: RunView, points: Points, params: Params) -> Detection | None:
    """Say so where the next observation is many times as far from what is predicted as ever."""
    place = surpassed(
        borne_out(points.step, not_foreseen(points, view.get(PREDICTED), params), params.least),
        rows=params.rows,
        least=params.least,
        times=params.times,
        lasts=params.lasts,
        decisive=params.decisive,
    )
    if place is None:
        return None
    now = float(points.value[place])
    return Detection(
        message=f"the next observation is {now:.3g} times as far as usual from what earlier steps predict",
        onset=view.onset(points.step[place - 1], points.step[place]),
        metric=points.metric,
        evidence={"times_usual": now, "most_before": float(points.value[:place].max())},
    )


def not_foreseen(points: Points, share: Points | None, params: Params) -> Floats:
    """Return the errors [n] of `points`; where most is foreseen all the same none counts as out of the ordinary."""
    if share is None:
        return points.value
    seen = np.isin(points.step, share.step[share.value >= params.foreseen])
    return np.where(seen, np.minimum(points.value, params.least), points.value)


def twice_told(view: RunView, points: Points, params: Params) -> Detection | None:
    """Say so where in the same rows the next observation is as far off, and what actions do is unlike any before."""
    response = view.get(RESPONSE)
    if response is None:
        return None
    step, here, there = np.intersect1d(points.step, response.step, return_indices=True)
    off, like = points.value[here], response.value[there]
    if step.size < params.early + params.both:
        return None
    bar = params.sure * np.maximum(params.least, params.times * np.maximum.accumulate(off))
    rows = step.size - params.both  # places that have a row before them and enough after
    odd = least_of(off, params.both)[1:] > bar[:rows]
    odd &= largest_of(like, params.both)[1:] < np.minimum.accumulate(like)[:rows]
    places = np.flatnonzero(odd[params.early :]) + params.early + 1
    if not places.size:
        return None
    place = int(places[0])
    now = float(off[place])
    return Detection(
        message=f"the next observation is {now:.3g} times as far off as usual; actions act as never before",
        onset=view.onset(float(step[place - 1]), float(step[place])),
        metric=points.metric,
        evidence={
            "times_usual": now,
            "most_before": float(off[:place].max()),
            "action_response": float(like[place]),
            "least_response_before": float(like[:place].min()),
        },
    )


def again(view: RunView, points: Points, params: Params) -> Detection | None:
    """Say so where the first rows err again and again: what one stretch teaches does not hold in the next."""
    first = points.value[: params.early]
    odd = np.flatnonzero(first >= params.least)
    if odd.size < params.again:
        return None
    return Detection(
        message=f"the next observation errs {first.max():.3g}-fold; so do {odd.size} of the first {first.size} rows",
        onset=view.onset(float(points.step[0]), float(points.step[int(odd[0])])),
        metric=points.metric,
        evidence={"rows": int(odd.size), "of_rows": int(first.size), "times_usual": float(first.max())},
        severity=Severity.WARNING,
    )


def unforeseen(view: RunView, surprise: Points, params: Params) -> Detection | None:
    """Say so where next to nothing of the next observation is foreseen any more, in several rows in a row."""
    share = view.get(PREDICTED)
    if share is None or len(share) < params.early + params.lasts:
        return None
    value = share.value
    lost = np.zeros(value.size, dtype=bool)
    few = largest_of(value, params.lasts) < params.lost
    lost[: few.size] = few
    few = largest_of(value, 2) < params.nothing
    lost[: few.size] |= few & odd(share, surprise, params)[: few.size]
    for place in np.flatnonzero(lost[params.early :]) + params.early:
        usual = quantile(value[:place], 0.1)
        if usual >= params.followed:
            return Detection(
                message=f"{max(value[place], 0):.0%} of the next observation is foreseen; {usual:.0%} and more was",
                onset=view.onset(float(share.step[place - 1]), float(share.step[place])),
                metric=PREDICTED,
                evidence={"predicted_frac": float(value[place]), "usual_frac": usual},
            )
    return None


def odd(share: Points, surprise: Points, params: Params) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return at which points of `share` this row and the next err far more than any row before."""
    if len(surprise) < 3:
        return np.zeros(len(share), dtype=bool)
    least = least_of(surprise.value, 2)[1:]
    bar = params.odd * np.maximum.accumulate(surprise.value)[: least.size]
    return np.isin(share.step, surprise.step[np.flatnonzero(least > bar) + 1])
