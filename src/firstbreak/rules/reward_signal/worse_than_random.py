"""The rule `worse-than-random`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import ended, from_start, progress, stretches
from firstbreak.view import RunView
from firstbreak.vocabulary import standard_task

RETURN = ("reward/raw_episode_return", "reward/episode_return_mean", "reward/episode_return")


@dataclass(frozen=True)
class Params:
    """Thresholds of `worse-than-random`. Engineering defaults."""

    rows: int = 30
    """Rows from which on a level is judged."""
    share: float = 0.8
    """Share of the planned steps from which on it is said: little learning may be worse than chance."""
    most: float = 0.9
    """Quantile of the recent returns that must lie below the lowest tenth of random play."""


DQN = synth.like("DQN", config={"env_id": "CartPole-v1", "action_space": "discrete"})
FAILS = synth.after(0.1, synth.clipped(synth.flat(9.4, 0.02), 9, 11), synth.flat(20, 0.1))
CASES = (
    fires("falls as fast as it can", lambda: DQN({RETURN[1]: FAILS})),
    healthy("learns", lambda: DQN({RETURN[1]: synth.clipped(synth.ramp(20, 400, 0.05), 9, 500)})),
    near_miss("worse than chance at first, better at last", lambda: DQN({RETURN[1]: synth.ramp(9.4, 60, 0.02)})),
    near_miss("no better than chance", lambda: DQN({RETURN[1]: synth.clipped(synth.flat(22, 0.2), 12, 60)})),
    near_miss(
        "single episodes, some of them short", lambda: DQN({RETURN[2]: synth.clipped(synth.flat(20, 0.5), 9, 99)})
    ),
    near_miss("divided by a hundred by design", lambda: DQN({RETURN[1]: synth.ramp(0.2, 4.0, 0.05)})),
)


@rule(
    "RWD047",
    "worse-than-random",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.INFO,
    any_of=(RETURN,),
    needs_config=("env_id",),
    when=("control",),
    min_points=30,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """At the end of the run the agent earns less than random play does in this task.

    What it means:
        The configuration names a standard task in which random play was measured. Nine in ten of the recent returns lie
        below what nine in ten episodes of random play reach.

    Why it matters:
        Too little training leaves an agent near chance. To be clearly worse than chance it must have learned something:
        the wrong thing. Which link taught it is not in the return, so this is a note.

    Usual causes:
        A sign that is turned in the reward, in the advantage or in the loss; actions that are executed in another order
        than they are learned; a greedy policy on values that were never fitted.

    What to try:
        Train briefly with the reward negated: if the return rises, a sign is turned.

    When it is harmless:
        In a run that was stopped early; where the name is kept for a task of one's own.

    References:
        Random play over 1,000 episodes, `firstbreak/vocabulary/random_play.toml`.
    """
    env_id = str(view.config("env_id"))
    task = standard_task(env_id)
    if task is None or task.random is None:
        return Skip(f"what random play earns in {env_id} is not known")
    if view.config("action_space") != "discrete":
        # What chance earns depends on how wide it draws, where effort costs.
        return Skip("there is no one random play of continuous actions")
    reward, share = view.get(*RETURN), progress(view)
    assert reward is not None
    lowest, _ = task.returns
    if len(reward) < params.rows or not (ended(view) or (share is not None and share >= params.share)):
        return None
    if reward.min < lowest or task.random.low <= lowest:
        return None  # another reward than the task's own, or a task in which nobody can be worse than chance
    _, recent = stretches(reward.value)
    if float(np.quantile(recent, params.most)) >= task.random.low:
        return None
    if reward.max < task.random.low and reward.max < 0.5 * task.random.mean:
        return None  # on another scale from the first row on
    return Detection(
        message=f"return {np.median(recent):.4g} at the end; random play of {env_id} earns {task.random.mean:.4g}",
        onset=from_start(view, reward),
        metric=reward.metric,
        evidence={"recent": float(np.median(recent)), "random": task.random.mean, "random_low": task.random.low},
    )
