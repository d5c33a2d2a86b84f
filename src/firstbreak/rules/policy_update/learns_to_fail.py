"""The rule `learns-to-fail`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import ended, return_below_start, starts_late
from firstbreak.rules.reward_signal.return_below_start import ENTROPY, RETURN, fallen, pays_alike
from firstbreak.stats import median
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `learns-to-fail`, engineering defaults; how far the return must fall is in `return-below-start`."""

    rows: int = 30
    """Rows from which on opening and recent stretch are compared."""
    few: int = 12
    """The same where the policy fell at once: it is certain (entropy), and all that it does ends alike."""
    of_first: float = 0.6
    """Share of the first row's return under which all of the last third lies then."""
    alike: float = 0.1
    """Range of that third, as a share of its level."""
    certain: float = 0.5
    """Entropy over its opening from which on the policy is certain, as in `return-below-start`."""


PPO = synth.like("PPO")
SAME = {"reward/env_mean": synth.constant(1.0), "reward/env_std": synth.constant(0.0)}
WORSE = {"reward/episode_return_mean": synth.clipped(synth.ramp(20, 8, 0.05, begin=0.1, until=0.5), 9.3, 99)}
SHORTER = synth.ramp(20, 9, 0.0, begin=0.1, until=0.5)
CASES = (
    fires(
        "the return is the length of the episode, and falls",
        lambda: PPO({"reward/episode_return_mean": SHORTER, "episode/length_mean": SHORTER}),
    ),
    near_miss(
        "every step costs one: shorter is better",
        lambda: PPO(
            {
                "reward/episode_return_mean": synth.ramp(-20, -9, 0.0, begin=0.1, until=0.5),
                "episode/length_mean": SHORTER,
            }
        ),
    ),
    fires("it learns to end episodes", lambda: PPO(SAME | WORSE | {ENTROPY: synth.ramp(0.69, 0.2, 0.02)})),
    fires(
        "from the first row on",
        lambda: PPO(SAME | {"reward/episode_return_mean": synth.geometric(20, 9, 0.01, until=0.12)}),
    ),
    fires(
        "certain of it within a few rows",
        lambda: synth.like("A2C", n=19)(
            {
                "reward/episode_return_mean": synth.geometric(19, 9, 0.0, until=0.4),
                "episode/length_mean": synth.geometric(19, 9, 0.0, until=0.4),
                ENTROPY: synth.geometric(0.6, 0.05, 0.0, until=0.4),
            }
        ),
    ),
    near_miss(
        "a lucky first row",
        lambda: synth.like("A2C", n=19)(
            {
                "reward/episode_return_mean": synth.spikes(21, 40, at=(0.0,), noise=0.05),
                "reward/env_mean": synth.constant(1.0),
                "reward/env_std": synth.constant(0.0),
            }
        ),
    ),
    healthy("return rises", lambda: PPO(SAME)),
    near_miss("steps pay differently: it may be the reward", lambda: PPO(WORSE | {"reward/env_std": synth.flat(0.5)})),
    near_miss(
        "learned, then lost it all",
        lambda: PPO(SAME | {"reward/episode_return_mean": synth.after(0.7, synth.flat(21, 0.05), synth.ramp(20, 300))}),
    ),
)


def at_once(view: RunView, reward: Points, params: Params) -> Detection | None:
    """Describe a policy that was certain of what is worse within the first rows: they hold the fall, and no level."""
    entropy = view.get(ENTROPY)
    if len(reward) < params.few or not ended(view) or starts_late(reward) or entropy is None or len(entropy) < 2:
        return None
    late = reward.value[-max(len(reward) // 3, 2) :]
    same = float(np.ptp(late)) <= params.alike * abs(median(late))
    certain = entropy.first > 0 and entropy.last < params.certain * entropy.first
    if not same or not certain or late.max() > params.of_first * reward.first:
        return None
    return Detection(
        message="",
        onset=view.onset(reward.step[0], reward.step[1]),
        metric=reward.metric,
        evidence={"opening": reward.first, "recent": median(late), "certain": True},
        severity=Severity.ERROR,
    )


@rule(
    "POL042",
    "learns-to-fail",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.WARNING,
    any_of=(RETURN, ("reward/env_std", "episode/length_mean", "episode/length")),
    when=("on_policy", "control"),
    min_points=12,
    params=Params(),
    cases=CASES,
    implies=("entropy-collapse", "return-collapse", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Every step pays the same, and the policy learns to make episodes shorter than chance does.

    What it means:
        The return is the length of the episode, so no reward of the environment can have asked for this; and it has
        fallen far below that of the untrained policy. Where only the returns of episodes are logged, the learner may
        have been given another reward than they show: then it is a warning, and the reward's sign is named beside it.

    Why it matters:
        Updates follow advantages that point the wrong way: what made episodes last is made less likely.

    Usual causes:
        Advantages or returns that are summed forward in time, cut beside the ends of episodes, or joined to the wrong
        steps; a sign in advantage or loss; actions stored of another step than their log-probabilities.

    What to try:
        Print the reward that reaches the learner beside the environment's. Compute the advantages of one short rollout
        with an end in the middle by hand, and compare.

    When it is harmless:
        A curriculum that gets harder.

    References:
        Schulman et al. 2016, arXiv 1506.02438, section 3 (generalised advantages).
    """
    reward = view.get(*RETURN)
    assert reward is not None
    if not pays_alike(view):
        return None
    found = fallen(view, return_below_start.Params(rows=params.rows), at_once=True) or at_once(view, reward, params)
    if found is None:
        return None
    now, before = found.evidence["recent"], found.evidence["opening"]
    return Detection(
        message=f"return {now:.4g}, below the {before:.4g} of the start, where each step pays the same",
        onset=found.onset,
        metric=found.metric,
        evidence=found.evidence,
        severity=found.severity if view.has("reward/env_std") else Severity.WARNING,
    )
