"""The rule `greedy-below-random`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import ended, progress, starts_late
from firstbreak.rules.reward_signal.return_below_start import pays_alike
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import RunView

EPSILON = "dqn/epsilon"
RETURN = ("reward/episode_return_mean", "reward/episode_return", "reward/raw_episode_return")
"""Means over episodes before single ones, which scatter more."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `greedy-below-random`. Engineering defaults."""

    random: float = 0.5
    """Epsilon down to which rows are of play that is random for the larger part."""
    greedy: float = 0.2
    """Epsilon from which on the policy is what its values say."""
    share: float = 0.8
    """Share of the return of random play under which a row lies."""
    rows: int = 20
    """Rows of greedy play that are needed, so that the dip of the first greedy policies is not judged alone."""
    most: float = 0.9
    """Share of the greedy rows that lie there."""
    reach: float = 1.0
    """Sum of the learning rates of all updates from which on the network had its chance: Adam moves a weight by about
    its rate at most (Kingma and Ba 2015, arXiv 1412.6980, section 2.1), and weights are of the order of 1 at most."""
    passed: float = 0.5
    """Share of the planned steps from which on it is said of a run that goes on."""


DQN = synth.like("DQN")
CHANCE = synth.ramp(19, 21, 0.0)
WORSE = synth.ramp(9.4, 9.6, 0.0)


def played(greedy: synth.Shape) -> dict[str, synth.Shape]:
    """Returns that are the lengths of episodes: random play first, then `greedy`."""
    shape = synth.after(0.2, greedy, CHANCE)
    return {"reward/episode_return_mean": shape, "episode/length_mean": shape}


CASES = (
    fires("what the values say is worse than chance", lambda: DQN(played(WORSE))),
    healthy("learns", lambda: DQN(played(synth.ramp(20, 200, 0.0)))),
    fires(
        "few updates at a small rate: a note",
        lambda: DQN(played(WORSE) | {"optim/n_updates": synth.ramp(0, 5000, 0.0), "optim/lr": synth.constant(1e-4)}),
    ),
    near_miss(
        "the first greedy policies are worse, and learn",
        lambda: DQN(played(synth.after(0.4, synth.ramp(20, 200, 0.0), WORSE))),
    ),
    near_miss(
        "learned, then lost it all",
        lambda: DQN(played(synth.after(0.6, WORSE, synth.ramp(20, 200, 0.0)))),
    ),
    near_miss(
        "each step costs one: shorter is better",
        lambda: DQN(
            {
                "reward/episode_return_mean": synth.after(0.2, synth.flat(-9.5, 0.0), synth.flat(-20, 0.0)),
                "episode/length_mean": synth.after(0.2, synth.flat(9.5, 0.0), synth.flat(20, 0.0)),
            }
        ),
    ),
)


@rule(
    "CRT029",
    "greedy-below-random",
    link=Link.CRITIC,
    component=Component.VALUE,
    needs=(EPSILON,),
    any_of=(RETURN, ("reward/env_std", "episode/length_mean", "episode/length")),
    when=("epsilon_greedy",),
    min_points=20,
    params=Params(),
    cases=CASES,
    implies=("reward-flat", "return-collapse", "smooth-decline"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Every step pays the same, and the actions of highest value end episodes sooner than random actions do.

    What it means:
        Since exploration has faded, nearly all rows lie clearly below the return of the random play at the start.
        The reward of the environment is one number at each step, so it cannot have asked for that.

    Why it matters:
        The values order actions wrongly or not at all. More steps do not help while what is fitted is wrong.

    Usual causes:
        A target network that is never copied; a discount far too short; values that bootstrap past the ends of
        episodes; a learning rate that is far too low or too high; a replay buffer that holds next to nothing.

    What to try:
        Print value, reward and target of ten stored rows, two of them at the end of an episode, and do the sum by hand.

    When it is harmless:
        In the first rows after exploration has faded; the rule waits. Where rate and number of updates are logged and
        the updates cannot have moved the weights far, it is a note: the run is short for its rate.

    References:
        Mnih et al. 2015, doi 10.1038/nature14236, methods (what a value must predict).
    """
    reward, epsilon = view.get(*RETURN), view.get(EPSILON)
    assert reward is not None
    assert epsilon is not None
    share = progress(view)
    if not pays_alike(view) or starts_late(reward):
        return None
    if not (ended(view) or (share is not None and share >= params.passed)):
        return None
    at_row = np.interp(reward.step, epsilon.step, epsilon.value)
    chance = reward.value[at_row >= params.random]
    greedy = at_row <= params.greedy
    if chance.size < 2 or np.count_nonzero(greedy) < params.rows or not greedy[-1]:
        return None
    level, played_now = median(chance), reward.value[greedy]
    below, now = played_now < params.share * level, median(_newest(played_now))
    if below.mean() < params.most or now >= params.share * level:
        return None
    first = int(np.flatnonzero(greedy)[0])
    return Detection(
        message=f"return {now:.4g} at epsilon {epsilon.last:.2g}; random play earned {level:.4g}",
        onset=view.onset(float(reward.step[max(first - 1, 0)]), float(reward.step[first])),
        metric=reward.metric,
        evidence={"random": level, "greedy": median(played_now), "below_frac": float(below.mean())},
        severity=Severity.INFO if hardly_moved(view, params) else None,
    )


def hardly_moved(view: RunView, params: Params) -> bool:
    """Whether rate and number of updates are known, and together too few for the network to have gone anywhere."""
    rate, updates = view.get("optim/lr"), view.get("optim/n_updates")
    lr = median(rate.value) if rate is not None and len(rate) else view.number("lr")
    return lr is not None and updates is not None and len(updates) > 0 and lr * updates.last < params.reach


def _newest(value: Floats) -> Floats:
    """Return the last eighth of `value` [n], at least 8."""
    return value[-max(8, value.size // 8) :]
