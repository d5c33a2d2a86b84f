"""The rule `return-below-start`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import began, ended, moved, progress, rises, starts_late, stretches
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.stats.level import level
from firstbreak.view import Points, RunView

RETURN = ("reward/raw_episode_return", "reward/episode_return_mean", "reward/episode_return")
ENTROPY = "policy/entropy"
PAIRS = (
    ("reward/episode_return_mean", "episode/length_mean"),
    ("reward/episode_return", "episode/length"),
    ("reward/raw_episode_return", "episode/length"),
)
"""Returns and the lengths of the same episodes."""
VARIED = 5
"""Different lengths that show of a return that it is made of nothing else. Engineering default."""
ROUNDING = 1e-5
"""Relative scatter of their ratio that rounding leaves: logs keep six digits of a return. Engineering default."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `return-below-start`. Engineering defaults."""

    rows: int = 30
    """Rows from which on opening and recent stretch are compared."""
    share: float = 0.5
    """Share of the planned steps from which on it is said: early on, many runs dip."""
    z: float = 5.0
    """Standard errors (inflated for autocorrelation) by which the return lies below its opening."""
    fall: float = 0.2
    """Share of the opening's size that it must have lost."""
    fall_certain: float = 0.05
    """The same for a policy that has committed itself: it was sure of a gain, and there is none."""
    shortfall: float = 0.5
    """Distance from the best return, as a share of its range."""
    certain: float = 0.5
    """Entropy over its opening below which the policy has committed itself to what is worse. An error also asks
    that it became surer since the return was at its best: who was sure of a gain that there was, and is less sure now,
    may have lost it in a changed world."""
    single: float = 0.1
    """Share of the range of single rewards that an episode must have lost, where it is known: a success in ten episodes
    that came by chance is little to lose. Engineering default."""
    blocks: int = 8
    """Parts of the run of which the best by the median is that best."""


PPO = synth.like("PPO")
WORSE = {"reward/episode_return_mean": synth.clipped(synth.ramp(20, 8, 0.05, begin=0.1, until=0.5), 9.3, 99)}
SHORTER = synth.ramp(20, 8, 0.0, begin=0.1, until=0.5)
RARE = synth.ramp(0.025, 0.0, 0.05, begin=0.1, until=0.3)
HALF = synth.ramp(0.5, 0.0, 0.05, begin=0.1, until=0.3)
SPARSE = {"reward/env_max": synth.spikes(0.05, 1.0, (0.03, 0.2)), "reward/env_min": synth.constant(-0.05)}
CASES = (
    fires("it learns to fail", lambda: PPO(WORSE | {ENTROPY: synth.ramp(0.69, 0.2, 0.02)})),
    fires(
        "a little worse, and certain of it",
        lambda: PPO({"reward/episode_return_mean": synth.ramp(80, 72, 0.01), ENTROPY: synth.ramp(0.69, 0.0, 0.02)}),
    ),
    near_miss("a little worse", lambda: PPO({"reward/episode_return_mean": synth.ramp(80, 72, 0.01)})),
    fires("a note: worse, and as uncertain as before", lambda: PPO(WORSE | {ENTROPY: synth.flat(0.69, 0.01)})),
    fires("worse, and nobody knows how certain", lambda: synth.like("PPO", drop=(ENTROPY,))(WORSE)),
    near_miss(
        "every step pays the same: not the reward's fault",
        lambda: PPO(WORSE | {"reward/env_mean": synth.constant(1.0), "reward/env_std": synth.constant(0.0)}),
    ),
    near_miss(
        "the return is the length of the episode: not the reward's fault",
        lambda: PPO({"reward/episode_return_mean": SHORTER, "episode/length_mean": SHORTER}),
    ),
    near_miss(
        "a success in forty episodes by chance, and then none",
        lambda: PPO({RETURN[1]: RARE, ENTROPY: synth.ramp(1.38, 0.4, 0.02), **SPARSE}),
    ),
    fires(
        "a success in two episodes, and then none",
        lambda: PPO({RETURN[1]: HALF, ENTROPY: synth.ramp(1.38, 0.4, 0.02), **SPARSE}),
    ),
    healthy("return rises", lambda: PPO({})),
    near_miss(
        "learned, then lost it all",
        lambda: PPO({"reward/episode_return_mean": synth.after(0.7, synth.flat(21, 0.05), synth.ramp(20, 300))}),
    ),
    near_miss(
        "dips, then learns",
        lambda: PPO({"reward/episode_return_mean": synth.after(0.4, synth.ramp(-100, 300, 0.05), synth.flat(10, 0.1))}),
    ),
    near_miss(
        "the curriculum gets harder",
        lambda: PPO(WORSE | {"env/curriculum@level": synth.ramp(0, 9, 0.0)}),
    ),
)


@rule(
    "RWD038",
    "return-below-start",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    any_of=(RETURN,),
    when=("on_policy", "control"),
    min_points=30,
    params=Params(),
    cases=CASES,
    implies=("entropy-collapse", "return-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """After half of the run or more, the policy earns less than before it had learned anything.

    What it means:
        The return lies far below its opening, which is that of an untrained policy, and near its worst. Where entropy
        has fallen as well, the policy has committed itself to behaviour that is worse than chance.

    Why it matters:
        Too little exploration or too little time leaves a policy mediocre. To make it worse than chance, updates must
        point the wrong way, or towards something else than the return.

    Usual causes:
        A sign that is wrong in reward, advantage or loss; returns summed in the wrong direction; a bonus or shaping
        term that pays for ending early; steps so large that the first update destroyed the policy.

    What to try:
        Train briefly with the reward negated; overfit one batch and look whether the better action becomes likelier.

    When it is harmless:
        While discrete actions are still drawn nearly as freely as at the start it is a note: in seven of seven sound
        runs of A2C on LunarLander (development half, 2026-11-26) the return lay below its opening for a quarter of the
        run and more, and no recorded fault was found so. A rare success by chance that a policy which explores less no
        longer meets: less than a tenth of a success an episode is nothing lost, where the range of single rewards is
        known. A curriculum that gets harder; a log that counts cost; exploration that is annealed from a good expert.
        Critics that learn from replayed data often begin below chance, so the rule looks at on-policy algorithms only.

    References:
        None: a run is compared with its own opening.
    """
    # Where every step pays the same, the reward is not at fault: see `learns-to-fail`.
    found = None if pays_alike(view) else fallen(view, params)
    if found is not None and found.severity is None and undecided(view, params):
        return replace(found, severity=Severity.INFO)
    return found


def undecided(view: RunView, params: Params) -> bool:
    """Whether discrete actions are drawn as freely as ever, or nearly: nothing was learned yet that could be wrong."""
    entropy = view.get(ENTROPY)
    if entropy is None or not len(entropy) or entropy.first <= 0:
        return False
    if view.has("policy/action_std") or view.config("action_space") == "continuous":
        return False  # such an entropy tells of the spread alone, and the mean may have gone anywhere
    return entropy.last >= params.certain * entropy.first


def pays_alike(view: RunView) -> bool:
    """Whether the environment paid one and the same reward, above 0, at every step of the run.

    Where rewards of single steps are not logged, the return says so: it is a fixed multiple of the episode's length.
    """
    paid, spread = view.get("reward/env_mean"), view.get("reward/env_std")
    if paid is None or spread is None or not len(paid) or not len(spread):
        return per_step(view) > 0
    return spread.max == 0 and paid.min == paid.max > 0


def per_step(view: RunView) -> float:
    """Return the one reward that every step of the run paid, as return over length of the episodes says; else 0.

    Lengths must have differed in `VARIED` rows, else one return and one length prove nothing.
    """
    for reward, length in PAIRS:
        returns, lengths = view.get(reward), view.get(length)
        if returns is None or lengths is None or not np.array_equal(returns.step, lengths.step):
            continue
        if np.unique(lengths.value).size < VARIED or lengths.min <= 0:
            continue
        ratio = returns.value / lengths.value
        if np.ptp(ratio) <= ROUNDING * float(np.abs(ratio).max()):
            return median(ratio)
    return 0.0


def fallen(view: RunView, params: Params, at_once: bool = False) -> Detection | None:
    """Describe a return that has fallen below what an untrained policy earned; or fell `at_once`, in the opening."""
    reward = view.get(*RETURN)
    assert reward is not None
    share = progress(view)
    if len(reward) < params.rows or not (ended(view) or (share is not None and share >= params.share)):
        return None
    if starts_late(reward) or any(rises(points) for points in view.family("env/curriculum").values()):
        return None
    entropy = view.get(ENTROPY)
    known = entropy is not None and len(entropy) > 0 and entropy.first > 0
    certain = known and entropy is not None and entropy.last < params.certain * entropy.first
    change, stand = moved(reward), level(reward.value)
    fall = params.fall_certain if certain else params.fall
    if -change.difference < fall * abs(change.reference) or not (
        change.z <= -params.z or (at_once and apart(reward.value, params))
    ):
        return None
    if stand.rising or not stand.shortfall >= params.shortfall:
        return None
    if -change.difference < params.single * range_of(view):
        return None
    return Detection(
        message=f"return {change.recent:.4g}, below the {change.reference:.4g} that the run opened with",
        onset=began(view, reward),
        metric=reward.metric,
        evidence={"opening": change.reference, "recent": change.recent, "z": change.z, "certain": bool(certain)},
        severity=Severity.ERROR if certain and since_best(reward, entropy, params) else None,
    )


def range_of(view: RunView) -> float:
    """Return how far apart single rewards of the environment were seen to lie; 0 where that is not logged."""
    most, least = view.get("reward/env_max"), view.get("reward/env_min")
    if most is None or least is None or not len(most) or not len(least):
        return 0.0
    return most.max - least.min


def since_best(reward: Points, entropy: Points | None, params: Params) -> bool:
    """Whether the policy became surer after the best part of its return, and not only on the way to it."""
    if entropy is None:
        return False
    parts = np.array_split(np.arange(len(reward)), params.blocks)
    best = int(np.argmax([median(reward.value[part]) for part in parts]))
    if best == 0:
        return True  # it never gained anything
    middle = parts[best][parts[best].size // 2]
    at = float(np.interp(reward.step[middle], entropy.step, entropy.value))
    return entropy.last < at


def apart(value: Floats, params: Params) -> bool:
    """Whether all of the recent stretch lies clear below all of the opening: so it does where the fall began at once,
    which widens the error of the opening's level."""
    opening, recent = stretches(value)
    return bool(recent.max() < opening.min() - params.fall * abs(median(opening)))
