"""The rule `smooth-decline`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Skip
from firstbreak.rule import Answer, Status, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST, TRAIN, moved, rises
from firstbreak.series import Floats
from firstbreak.stats import linear_trend, median, rank_correlation
from firstbreak.stats.level import level
from firstbreak.view import Points, RunView
from firstbreak.vocabulary import traits_of


@dataclass(frozen=True)
class Params:
    """Thresholds of `smooth-decline`. Engineering defaults where no source is named."""

    rows: int = 30
    """Rows that a steady trend needs."""
    z: float = 6.0
    """Standard errors of slope and of the difference between opening and now, inflated for autocorrelation."""
    rank: float = 0.8
    """Rank correlation with time below the negative of which the fall is steady rather than a collapse."""
    gain: float = 0.1
    """Gain of the last third over the first, or of the recent stretch over the opening, as a share of the return's
    range, that is one."""
    gain_z: float = 3.0
    """Standard errors of a gain that is one, half of one more where the line shows it: the better of two is asked."""
    lost: float = 0.5
    """Share of the gain that is gone in each of the newest rows: too few for `return-collapse`, and no
    end that may be called healthy."""
    newest: int = 3
    """Rows that show it."""
    parts: int = 16
    """Parts of a long series, one of which makes a level."""
    entropy_ratio: float = 0.1
    """Entropy over its opening under which the fall has another explanation."""


PPO = synth.like("PPO")
BUFFER = synth.like("SAC", drop=("reward/episode_return_mean", "policy/entropy"), n=300)
CASES = (
    fires(
        "optimiser goes steadily downhill", lambda: PPO({"reward/episode_return_mean": synth.ramp(-100, -600, 0.03)})
    ),
    healthy("return rises", lambda: PPO({})),
    near_miss("sudden collapse", lambda: PPO({"reward/episode_return_mean": synth.jump(200, 20, at=0.7, noise=0.05)})),
    near_miss("noise around a level", lambda: PPO({"reward/episode_return_mean": synth.walk(-200, 20)})),
    near_miss(
        "steps too large at the same time",
        lambda: PPO({"reward/episode_return_mean": synth.ramp(-100, -600, 0.03), "policy/kl_old": synth.flat(2.0)}),
    ),
    near_miss(
        "acts less and less at random, and has not learned yet",
        lambda: synth.like("DQN")(
            {"reward/episode_return_mean": synth.ramp(21, 9.5, 0.01), "dqn/epsilon": synth.ramp(1.0, 0.05, 0.0)}
        ),
    ),
    near_miss(
        "a replay buffer whose mean still falls while steps earn more again",
        lambda: BUFFER({TRAIN[-1]: synth.ramp(-5.0, -15.0, 0.01), "reward/env_mean": synth.ramp(-9.0, -5.0, 0.05)}),
    ),
    fires(
        "a replay buffer whose mean falls as steps do",
        lambda: BUFFER({TRAIN[-1]: synth.ramp(-5.0, -15.0, 0.01), "reward/env_mean": synth.ramp(-5.0, -19.0, 0.02)}),
    ),
    near_miss(
        "the curriculum gets harder",
        lambda: PPO(
            {"reward/episode_return_mean": synth.ramp(-100, -600, 0.03), "env/curriculum@level": synth.ramp(0, 9, 0.0)}
        ),
    ),
)


@rule(
    "RWD005",
    "smooth-decline",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    any_of=(TRAIN,),
    min_points=8,
    across_phases=True,
    params=Params(),
    cases=CASES,
    status=Status.PREVIEW,
    implies=("return-below-start",),
)
def detect(view: RunView, params: Params) -> Answer:
    """The return falls steadily from the start while the optimisation looks healthy.

    What it means:
        Row after row a little worse, without a jump, without large policy steps and without loss of exploration.

    Why it matters:
        An optimiser that does its work in the wrong direction looks exactly like this.

    Usual causes:
        Reward and cost mixed up; a negated loss or advantage; chosen and rejected swapped; a penalty whose sign is
        wrong.

    What to try:
        Train briefly with the reward negated: if the logged return then rises, the sign was it.

    When it is harmless:
        A curriculum that gets harder; a log that counts cost (lower is better); an epsilon that falls before anything
        has been learned.

    References:
        Gupta and Mahajan 2026, arXiv 2603.17875, is an example of an algorithm that is stated for costs.
    """
    reward = view.get(*TRAIN)
    assert reward is not None
    if len(reward) < params.rows:
        return _unproven(view, reward, params)
    line, change = linear_trend(reward.step, reward.value), moved(reward)
    if line.z > -params.z or change.z > -params.z or rank_correlation(reward.step, reward.value) > -params.rank:
        return _unproven(view, reward, params)
    if excused(view, params) or earns_more(view, reward, params):
        return _unproven(view, reward, params)
    # The decline must have begun at once: a run that first learned and then lost it is a collapse.
    if reward.max_at > reward.step[max(1, len(reward) // 5)]:
        return None
    return Detection(
        message=f"reward falls steadily from {change.reference:.4g} to {change.recent:.4g} (z {line.z:.0f})",
        onset=view.onset(reward.step[0], reward.step[min(LEAST, len(reward) - 1)]),
        metric=reward.metric,
        evidence={"opening": change.reference, "recent": change.recent, "z": line.z},
    )


def _unproven(view: RunView, reward: Points, params: Params) -> Skip | None:
    """Say that a run has nothing to show: its return ends no better than at the start, only scatters, or lost most."""
    if _ends_far_below_its_best(reward, params):
        return Skip("the return ends far below its best", ("a longer run",), withholds=True)
    stand = level(reward.value)
    third = max(len(reward) // 3, 1)
    gain = median(reward.value[-third:]) - median(reward.value[:third])
    gain = max(gain, moved(reward).difference)  # what was learned quickly was learned
    # A return that only scatters has a range, too: what was gained must also be told from chance.
    higher = gain > params.gain * (stand.best - stand.worst)
    gained = higher and (told(reward, params) or len(reward) < 2 * LEAST)
    climbs_back = stand.rising and stand.recent >= median(reward.value[: min(LEAST, third)])
    if gained or climbs_back:
        return None
    why = (
        "the return's gain cannot be told from its ups and downs"
        if higher
        else "the return is no better than at the start"
    )
    return Skip(why, ("a longer run, or one that learns",), withholds=True)


def told(reward: Points, params: Params) -> bool:
    """Whether a gain can be told from chance, for a claim of health: by errors that know of autocorrelation."""
    line = linear_trend(reward.step, reward.value)
    return moved(reward).z >= params.gain_z or line.z >= params.gain_z + 0.5


def _ends_far_below_its_best(reward: Points, params: Params) -> bool:
    """Whether the newest rows lie half of the gain or more below the best stretch.

    All of the newest few must, or the level of as many as make a level: single episodes scatter.
    """
    value = reward.value
    if value.size < 2 * LEAST + params.newest:
        return False
    gain, floor = _floor(value, LEAST, params)
    if gain > params.gain * float(np.ptp(value)) and bool((value[-params.newest :] < floor).all()):
        return True
    size = max(LEAST, value.size // params.parts)
    gain, floor = _floor(value, size, params)
    return size > LEAST and gain > params.gain * float(np.ptp(value)) and median(value[-size:]) < floor


def _floor(value: Floats, size: int, params: Params) -> tuple[float, float]:
    """Return the gain of the best `size` rows of `value` [n] over the opening, and the level that has lost of it."""
    best = float(np.convolve(value, np.ones(size) / size, mode="valid").max())
    gain = best - median(value[:size])
    return gain, best - params.lost * gain


def becomes_greedy(view: RunView) -> bool:
    """Whether the policy acts less and less at random, or may do so: what is chosen untrained is worse than chance.

    Of a learner with an epsilon that nobody logged it is not known.
    """
    if "epsilon_greedy" not in traits_of(view.algorithm):
        return False
    epsilon = view.get("dqn/epsilon")
    return epsilon is None or not len(epsilon) or epsilon.last < epsilon.max


def earns_more(view: RunView, reward: Points, params: Params) -> bool:
    """Whether what falls is the mean of a replay buffer, and the steps of its second half do not.

    A buffer holds what all earlier policies earned: its mean goes on falling after the newest has turned up.
    """
    steps = view.get("reward/env_mean")
    if reward.metric != TRAIN[-1] or "replay" not in traits_of(view.algorithm) or steps is None:
        return False
    half = len(steps) // 2
    return half >= LEAST and linear_trend(steps.step[half:], steps.value[half:]).z > -params.gain_z


def excused(view: RunView, params: Params) -> bool:
    """Whether large steps, lost entropy, less chance or a harder curriculum explain the fall."""
    if becomes_greedy(view):
        return True
    kl, entropy = view.get("policy/kl_old"), view.get("policy/entropy")
    if kl is not None and len(kl) and median(kl.value) > 0.3:
        return True
    if (
        entropy is not None
        and len(entropy)
        and entropy.first > 0
        and entropy.last < params.entropy_ratio * entropy.first
    ):
        return True
    return any(rises(points) for points in view.family("env/curriculum").values())
