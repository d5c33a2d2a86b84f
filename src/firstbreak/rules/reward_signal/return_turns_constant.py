"""The rule `return-turns-constant`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, quantile
from firstbreak.view import RunView
from firstbreak.vocabulary import traits_of

MEANS = ("reward/episode_return_mean",)
SINGLE = ("reward/episode_return", "reward/raw_episode_return")
LENGTHS = ("episode/length_mean", "episode/length")


@dataclass(frozen=True)
class Params:
    """Thresholds of `return-turns-constant`. Engineering defaults."""

    rows: int = 8
    """Latest rows in which the return is one number; twice as many where rows are single episodes."""
    varied: float = 0.9
    """Share of as many rows before that must have differed from one another."""
    longer: float = 1.1
    """Factor by which episodes may have become longer or shorter."""


PPO = synth.like("PPO")
RETURN, LENGTH = MEANS[0], LENGTHS[0]
LEARNS = synth.ramp(-100, -8, 0.1, until=0.5)
STEADY = {LENGTH: synth.constant(50.0)}
CASES = (
    fires(
        "each step pays -1 from then on", lambda: PPO(STEADY | {RETURN: synth.after(0.6, synth.constant(-50), LEARNS)})
    ),
    healthy("rises", lambda: PPO({})),
    near_miss("solved", lambda: PPO(STEADY | {RETURN: synth.after(0.6, synth.constant(-5.0), LEARNS)})),
    near_miss("nothing is won any more", lambda: PPO(STEADY | {RETURN: synth.after(0.6, synth.constant(0.0), LEARNS)})),
    near_miss(
        "every episode goes on to its limit, since the policy fails",
        lambda: PPO(
            {RETURN: synth.after(0.6, synth.constant(-50.0), LEARNS)}
            | {LENGTH: synth.after(0.6, synth.constant(60.0), synth.ramp(40, 20, 0.05))}
        ),
    ),
)


@rule(
    "RWD103",
    "return-turns-constant",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    any_of=((*MEANS, *SINGLE), LENGTHS),
    when=("control",),
    min_points=24,
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "return-falls-at-once", "reward-flat", "value-loss-explosion", "train-eval-gap"),
)
def detect(view: RunView, params: Params) -> Answer:
    """From some row on every episode pays one and the same, less than before, and lasts as long as ever.

    What it means:
        Returns used to differ from episode to episode. Now they are equal to the last digit although actions are drawn,
        and they are worse: what is paid no longer depends on what is done.

    Why it matters:
        There is nothing left to learn from; updates go on with noise.

    Usual causes:
        Rewards that are clipped to their sign on a task of costs, so that each step pays -1; a default that is paid
        when a scorer fails; a sensor of the goal that is dead.

    What to try:
        Print the reward of ten steps as the environment returns it, then as it enters the buffer.

    When it is harmless:
        A solved task stays at its best, which is not reported; nor is a return of 0, where nothing is won.

    References:
        None; the rule compares with the run's own past.
    """
    reward = view.get(*MEANS, *SINGLE)
    assert reward is not None
    rows = params.rows * (1 if reward.metric in MEANS else 2)
    value = reward.value
    other = np.flatnonzero(value != value[-1])
    start = int(other[-1]) + 1 if other.size else 0
    before = value[max(0, start - rows) : start]
    if value.size - start < rows or before.size < rows or value[-1] == 0 or not drawn(view):
        return None
    if np.unique(before).size < params.varied * before.size or value[-1] >= quantile(before, 0.1):
        return None
    lengths = view.get(*LENGTHS)
    assert lengths is not None
    at = float(reward.step[start])
    earlier, later = lengths.value[lengths.step < at][-rows:], lengths.value[lengths.step >= at]
    if not earlier.size or not later.size:
        return None
    longer = median(later) / max(median(earlier), 1e-12)
    if not 1 / params.longer <= longer <= params.longer:
        return None
    return Detection(
        message=f"return is exactly {value[-1]:.4g} in the last {value.size - start} rows; before {median(before):.4g}",
        onset=view.onset(float(reward.step[start - 1]), at),
        metric=reward.metric,
        evidence={"return": float(value[-1]), "before": median(before), "rows": value.size - start},
    )


def drawn(view: RunView) -> bool:
    """Whether actions are drawn at random to some part, so that episodes cannot repeat one another."""
    epsilon, entropy = view.get("dqn/epsilon"), view.get("policy/entropy")
    if epsilon is not None and len(epsilon):
        return epsilon.last > 0
    return "epsilon_greedy" not in traits_of(view.algorithm) and (
        entropy is None or not len(entropy) or entropy.last != 0
    )
