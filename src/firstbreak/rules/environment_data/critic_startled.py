"""The rule `critic-startled`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.environment_data.return_falls_at_once import Params as Updates
from firstbreak.rules.environment_data.return_falls_at_once import usual
from firstbreak.series import Floats
from firstbreak.stats import median, quantile
from firstbreak.view import Points, RunView
from firstbreak.vocabulary import traits_of

LOSS = "critic/loss"
RETURNS = ("reward/episode_return_mean", "reward/episode_return", "reward/raw_episode_return")


@dataclass(frozen=True)
class Params:
    """Thresholds of `critic-startled`."""

    factor: float = 15.0
    """Highest loss of three rows over the highest of the rows before. In healthy runs of the development half of the
    fault benchmark and among ordinary logs (2026-11-26) in which the return falls at the same place it is 7 at most."""
    before: int = 20
    """Rows that say what is usual. Engineering default."""
    rows: int = 5
    """Rows for which the return then lies below nearly all of ten before. Engineering default."""
    size: float = 0.2
    """Root of that loss over the size of the return before: errors that hardly matter may grow by any factor.
    Engineering default."""
    stays: float = 1.5
    """Times its earlier level that the loss still is then. Engineering default."""


PPO = synth.like("PPO")
RETURN = RETURNS[0]
CASES = (
    fires(
        "half of what was gained is lost, and the critic errs as never before",
        lambda: PPO({RETURN: synth.after(0.6, synth.flat(-45, 0.1), synth.ramp(-90, -9, 0.03, until=0.4)),
                     LOSS: synth.after(0.6, synth.flat(30, 0.2), synth.ramp(50, 0.8, 0.003, until=0.4))}),
    ),
    healthy("learns", lambda: PPO({})),
    near_miss(
        "the return rises with it",
        lambda: PPO({RETURN: synth.after(0.6, synth.flat(-4, 0.1), synth.ramp(-90, -9, 0.03, until=0.4)),
                     LOSS: synth.after(0.6, synth.flat(30, 0.2), synth.ramp(50, 0.8, 0.003, until=0.4))}),
    ),
    near_miss(
        "the update before was far too large",
        lambda: PPO({RETURN: synth.after(0.6, synth.flat(-45, 0.1), synth.ramp(-90, -9, 0.03, until=0.4)),
                     LOSS: synth.after(0.6, synth.flat(30, 0.2), synth.ramp(50, 0.8, 0.003, until=0.4)),
                     "policy/kl_old": synth.spikes(0.008, 0.9, at=(0.592,), noise=0.2)}),
    ),
)  # fmt: skip


@rule(
    "ENV092",
    "critic-startled",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    needs=(LOSS,),
    any_of=(RETURNS,),
    when=("control", "on_policy", "value_function"),
    min_points=30,
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "value-loss-explosion", "explained-variance-collapse", "policy-loss-spike"),
)
def detect(view: RunView, params: Params) -> Answer:
    """An on-policy critic errs many times as much as ever, at once and as the return falls; no update was unusual.

    What it means:
        The policy moved no further than usual, so it goes where the critic has learned. That its values are suddenly
        wrong by far, and episodes are worse, is of what the world shows or pays.

    Why it matters:
        What was learned does not fit any more, and is unlearned from here on.

    Usual causes:
        Observations that are cut, scaled or normalised otherwise; statistics of a normaliser that were lost; a reward
        in other units; another version of the task.

    What to try:
        Replay saved actions from saved states with the code of before and of now; print one observation of either.

    When it is harmless:
        A step of a curriculum that you know of.

    References:
        None; the loss is compared with its own past, and an effect with the updates before it.
    """
    loss, returns = view.get(LOSS), view.get(*RETURNS)
    assert loss is not None
    assert returns is not None
    if not traits_of(view.algorithm) >= {"control", "on_policy"}:
        return Skip(
            "the algorithm is not known, and values of a replay buffer jump by themselves", ("config algorithm",)
        )
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes the environment")
    value = np.abs(loss.value)
    earned = by_row(loss, returns)
    for place in range(params.before, value.size - params.rows - 1):
        past, now = value[place - params.before : place], value[place : place + params.rows + 1]
        if now[:3].max() < params.factor * past.max() or median(now) < params.stays * median(past):
            continue
        before, after = earned[place - 10 : place], earned[place + 1 : place + 1 + params.rows]
        if np.sqrt(now[:3].max()) < params.size * abs(median(before)):
            continue
        if after.max() >= quantile(before, 0.1) or not usual(view, float(loss.step[place - 1]), Updates()):
            continue
        return Detection(
            message=f"critic loss from {median(past):.3g} to {now[:3].max():.3g}, return from {median(before):.4g} "
            f"to {median(after):.4g}, at once",
            onset=view.onset(float(loss.step[place - 1]), float(loss.step[place])),
            metric=LOSS,
            evidence={"loss_before": median(past), "loss_after": float(now[:3].max()), "return_after": median(after)},
        )
    return None


def by_row(loss: Points, returns: Points) -> Floats:
    """Return the mean return [n] of the episodes that ended in each row of the loss, between rows where none did."""
    rows = np.searchsorted(loss.step, returns.step)
    inside = rows < len(loss)
    count = np.bincount(rows[inside], minlength=len(loss))
    total = np.bincount(rows[inside], weights=returns.value[inside], minlength=len(loss))
    known = np.flatnonzero(count)
    return np.interp(np.arange(len(loss)), known, total[known] / count[known]) if known.size else np.zeros(len(loss))
