"""The rule `reward-unforeseen`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import borne_out, surpassed
from firstbreak.view import RunView

PAYMENT = "reward/env_surprise"
WORLD = "env/dynamics_surprise"


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-unforeseen`: engineering defaults, those of `dynamics-changed`, but for `least`."""

    rows: int = 8
    """Earlier rows that say what is usual: the shortest stretch with a stated error."""
    least: float = 30.0
    """Times the usual error of what earlier steps predict. Where payments are rare and partly luck, a policy that comes
    to them more often reaches 19; a reward that was changed starts at 500 (fault benchmark, corpus of 2026-11-25)."""
    world: float = 8.0
    """Times the usual error of the next observation from which on the world has changed, too."""
    times: float = 2.0
    """How many times the largest earlier error the rows now must reach."""
    decisive: float = 3.0
    """How many times that bar one row alone must reach; one that came early needs the next beside it."""
    lasts: int = 2
    """Rows in a row that must show it."""
    same_frac: float = 0.5
    """Share of earlier rows in which every step earned the same, from which on rewards are rare."""
    rare_frac: float = 0.2
    """Share by which the mean of rewards that were all the same may change when a task is first solved."""


PPO = synth.like("PPO")
USUAL = synth.clipped(synth.flat(0.9, 0.3), 0, 99)
STRANGE = synth.after(0.6, synth.flat(400.0, 0.2), USUAL)
MORE_OFTEN = synth.after(0.6, synth.geometric(19.0, 1.0, until=0.63), USUAL)
NEW_PLACES = synth.after(0.6, synth.flat(3.0, 0.3), USUAL)
FIRST_SUCCESS = {
    "reward/env_mean": synth.jump(-1.0, -0.99, at=0.6, noise=0.0),
    "reward/env_std": synth.jump(0.0, 0.1, at=0.6, noise=0.0),
}
AT_END = {
    "reward/env_mean": synth.jump(1.0, 0.3, at=0.6, noise=0.0),
    "reward/env_std": synth.jump(0.0, 9.0, at=0.6, noise=0.0),
}
CASES = (
    fires("rewards no longer follow from what was done", lambda: PPO({PAYMENT: STRANGE, WORLD: USUAL})),
    healthy("the same reward throughout", lambda: PPO({PAYMENT: USUAL, WORLD: USUAL})),
    near_miss("a policy that earns where it never was", lambda: PPO({PAYMENT: NEW_PLACES, WORLD: NEW_PLACES})),
    near_miss(
        "a policy that comes to rare and lucky payments more often", lambda: PPO({PAYMENT: MORE_OFTEN, WORLD: USUAL})
    ),
    near_miss("the world has changed, too", lambda: PPO({PAYMENT: STRANGE, WORLD: STRANGE})),
    near_miss("first success of a sparse task", lambda: PPO({PAYMENT: STRANGE, WORLD: USUAL} | FIRST_SUCCESS)),
    fires("what was paid for each step is paid at the end", lambda: PPO({PAYMENT: STRANGE, WORLD: USUAL} | AT_END)),
    near_miss("nobody looked at the world", lambda: PPO({PAYMENT: STRANGE})),
)


@rule(
    "RWD037",
    "reward-unforeseen",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    needs=(PAYMENT, WORLD),
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "explained-variance-collapse", "value-loss-explosion", "q-divergence", "alpha-runaway"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Rewards suddenly no longer follow from observation and action, in a world that moves as it did.

    What it means:
        A simple model, learned from all earlier steps, predicts the reward of a step; in these rows it errs many times
        as much as it ever did, while the next observation is still predicted as well as before.

    Why it matters:
        From here on another task is learned, or none. The return lags behind by whole episodes.

    Usual causes:
        A reward function, weight or model that was swapped or reloaded; a term that changed its sign; rewards that are
        paid late, at random, or to the wrong copy of the environment.

    What to try:
        Score the same saved transitions with the code before and after; look at what was deployed then.

    When it is harmless:
        A stage of a curriculum with another reward that you switched on yourself: log `env/curriculum`.

    References:
        Ljung 1999, "System Identification", section 11.2 (prediction errors of a model that is fitted on the way).
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes the environment")
    payment, world = view.get(PAYMENT), view.get(WORLD)
    assert payment is not None
    assert world is not None
    if len(payment) <= params.rows:
        return Skip("too few rows to say what is usual")
    place = unforeseen(borne_out(payment.step, payment.value, params.least), params.least, params)
    moved = unforeseen(world.value, params.world, params)
    if place is None:
        return None
    # A world that has changed surprises by its rewards, too; so does a first success.
    if (moved is not None and world.step[moved] <= payment.step[place]) or rare(
        view, float(payment.step[place]), params
    ):
        return None
    now = float(payment.value[place])
    return Detection(
        message=f"rewards are {now:.3g} times as far as usual from what earlier steps predict",
        onset=view.onset(payment.step[place - 1], payment.step[place]),
        metric=payment.metric,
        evidence={"times_usual": now, "most_before": float(payment.value[:place].max())},
    )


def rare(view: RunView, at: float, params: Params) -> bool:
    """Whether rewards were mostly the same before step `at`, and are: something rare was found."""
    spread, mean = view.get("reward/env_std"), view.get("reward/env_mean")
    if spread is None or mean is None:
        return False
    earlier = spread.value[spread.step < at]
    if not earlier.size or np.mean(earlier == 0) < params.same_frac:
        return False
    before, now = mean.value[mean.step < at], mean.value[mean.step >= at]
    return bool(before.size and now.size) and abs(now[0] - before[-1]) <= params.rare_frac * abs(before[-1])


def unforeseen(value: Floats, least: float, params: Params) -> int | None:
    """Return where what was observed ceased to follow from what was done as it did."""
    return surpassed(
        value,
        rows=params.rows,
        least=least,
        times=params.times,
        lasts=params.lasts,
        decisive=params.decisive,
    )
