"""The rule `reward-beyond-horizon`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import ended, progress, rises
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import Points, RunView

MEAN, HIGH, LOW = "reward/env_mean", "reward/env_max", "reward/env_min"
RETURN = ("reward/raw_episode_return", "reward/episode_return_mean", "reward/episode_return")
LENGTH = "episode/length_mean"


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-beyond-horizon`. Engineering defaults where no source is named."""

    silent: float = 0.5
    """Share of rows in which nothing is paid."""
    paid: int = 10
    """Rows that do pay."""
    alike: float = 0.01
    """Relative difference of a single payment and a whole return, for rounding in the log."""
    matches: float = 0.8
    """Share of the payments that are whole returns."""
    horizons: float = 1.0
    """Length of an episode over 1 / (1 - gamma), from which on less than 1 / e of the payment is left at its start, by
    definition."""
    share: float = 0.5
    """Share of the planned steps from which on it is said, unless the run is over."""


SAC = synth.like("SAC", config={"gamma": 0.99})


def lumps(every: int, size: float, differ: float = 0.2) -> synth.Shape:
    """Nothing, and every so many rows a payment that differs by a fifth."""

    def shape(t: Floats, rng: np.random.Generator) -> Floats:
        paid = size * (1 + differ * np.random.default_rng(7).standard_normal(t.size))
        return np.where(np.arange(t.size) % every == every - 1, paid, 0.0)

    return shape


def held(every: int, size: float) -> synth.Shape:
    """The last payment, as returns are logged."""

    def shape(t: Floats, rng: np.random.Generator) -> Floats:
        paid, row = lumps(every, size)(t, rng), np.arange(t.size)
        return paid[np.maximum((row + 1) // every * every - 1, every - 1)]

    return shape


NEVER = {HIGH: synth.constant(0.0), MEAN: lumps(4, -20.0), LOW: lumps(4, -1300.0)}
RETURNS = {RETURN[1]: held(4, -1300.0)}
CASES = (
    fires("all is paid in the last step of 200", lambda: SAC(NEVER | RETURNS)),
    healthy("every step pays", lambda: SAC({HIGH: synth.flat(-1.0), MEAN: synth.flat(-6.0), LOW: synth.flat(-14.0)})),
    near_miss("at the end of a short episode", lambda: SAC(NEVER | RETURNS | {LENGTH: synth.constant(20.0)})),
    near_miss("it is learned all the same", lambda: SAC(NEVER)),
    near_miss(
        "one goal of a fixed size",
        lambda: SAC(
            {LOW: synth.constant(0.0), MEAN: lumps(4, 0.01, 0.0), HIGH: lumps(4, 1.0, 0.0)}
            | {RETURN[1]: synth.constant(1.0)}
        ),
    ),
)


@rule(
    "RWD041",
    "reward-beyond-horizon",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    needs=(MEAN, HIGH, LOW, LENGTH),
    any_of=(RETURN,),
    needs_config=("gamma",),
    when=("control",),
    min_points=30,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("reward-flat", "critic-not-learning", "value-loss-explosion", "alpha-runaway", "q-exceeds-return"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The whole return is paid in the last step of episodes that outlast the discount, and does not rise.

    What it means:
        Most rows pay nothing; those that do pay the return of an episode in one step. Episodes are longer than the
        discount's horizon, so that little of it reaches their first steps.

    Why it matters:
        No step is told from another: good and bad actions share one late sum, and the critic has to carry it back over
        hundreds of steps.

    Usual causes:
        A reward that is summed and handed out at the end; a wrapper that accumulates; metrics of the episode returned
        in place of the reward of the step.

    What to try:
        Print the rewards of one episode; pay each step its part, or shape by a potential.

    When it is harmless:
        Tasks with one score at the end and no other measure: then raise gamma, and use long traces.

    References:
        Arjona-Medina et al. 2019, arXiv 1806.07857 (delayed rewards). Ng et al. 1999 (potential-based shaping).
    """
    mean, high, low = view.get(MEAN), view.get(HIGH), view.get(LOW)
    returns, length, gamma = view.get(*RETURN), view.get(LENGTH), view.number("gamma")
    if mean is None or high is None or low is None or returns is None or length is None or not len(length):
        return None
    if (
        gamma is None
        or not 0 <= gamma < 1
        or len(high) != len(low)
        or median(length.value) < params.horizons / (1 - gamma)
    ):
        return None
    paid = np.where(np.abs(high.value) > np.abs(low.value), high.value, low.value)
    lumps = paid[paid != 0]
    if (mean.value == 0).mean() < params.silent or lumps.size < params.paid or np.unique(lumps).size < params.paid:
        return None
    share = progress(view)
    whole = float(np.mean([is_return(lump, returns, params) for lump in lumps]))
    late = ended(view) or (share is not None and share >= params.share)
    if whole < params.matches or not late or rises(returns):
        return None
    return Detection(
        message=f"{whole:.0%} of payments are whole returns, after {median(length.value):.4g} steps; gamma {gamma:g}",
        onset=view.onset(float(mean.source.step[0])),
        metric=MEAN,
        evidence={"whole_frac": whole, "silent_rows_frac": float((mean.value == 0).mean()), "gamma": gamma},
    )


def is_return(lump: float, returns: Points, params: Params) -> bool:
    """Whether a payment is the return of some episode, as logged."""
    return bool((np.abs(returns.value - lump) <= params.alike * abs(lump)).any())
