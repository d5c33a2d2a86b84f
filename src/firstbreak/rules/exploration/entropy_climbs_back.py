"""The rule `entropy-climbs-back`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.stats.change import least_of
from firstbreak.view import Points, RunView

ENTROPY = "policy/entropy"
RETURN = ("reward/episode_return_mean", "reward/episode_return", "reward/raw_episode_return")


@dataclass(frozen=True)
class Params:
    """Thresholds of `entropy-climbs-back`. Engineering defaults."""

    fallen: float = 0.9
    """Share of its opening to which entropy must have fallen before: the policy had learned to prefer."""
    regained: float = 0.8
    """Share of what it had lost that entropy regains."""
    within: int = 10
    """Rows within which it does."""
    rows: int = 8
    """Rows in which it stays there, and rows that say what was usual before."""
    steep: float = 3.0
    """Times the largest move over that many rows before that the climb must be."""
    sudden: float = 0.6
    """Share of the climb that one row may hold unless the KL of that row is `steep` times its past: else it is what the
    policy is shown that changed, and not the policy."""
    lost: float = 0.8
    """Share of what the return had gained that is lost afterwards."""


PPO = synth.like("PPO")
LEARNED = synth.ramp(0.69, 0.55, 0.005, until=0.3)
CLIMB = synth.after(0.6, synth.clipped(synth.ramp(-1.0, 0.682, 0.0, begin=0.5, until=0.62), 0.56, 0.682), LEARNED)
LOST = synth.after(0.64, synth.flat(28, 0.05), synth.ramp(20, 200, 0.02))
CASES = (
    fires("a bonus became too large", lambda: PPO({ENTROPY: CLIMB, RETURN[0]: LOST})),
    healthy("it learns to prefer", lambda: PPO({ENTROPY: synth.ramp(0.69, 0.4, 0.01)})),
    near_miss("doubt without harm", lambda: PPO({ENTROPY: CLIMB, RETURN[0]: synth.ramp(20, 200, 0.02)})),
    near_miss(
        "the return fell first, and the policy learns anew",
        lambda: PPO(
            {ENTROPY: CLIMB, RETURN[0]: synth.after(0.45, synth.flat(24, 0.05), synth.ramp(20, 400, 0.02, until=0.5))}
        ),
    ),
    near_miss("it never preferred much", lambda: PPO({ENTROPY: synth.walk(0.68, 0.005), RETURN[0]: LOST})),
)


@rule(
    "EXP036",
    "entropy-climbs-back",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    needs=(ENTROPY,),
    any_of=(RETURN,),
    when=("control", "on_policy"),
    min_points=24,
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "return-falls-at-once", "reward-flat", "value-loss-explosion", "best-long-past"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Entropy climbs back to where it began within a few rows, and then the return falls.

    What it means:
        The policy had learned to prefer some actions. It gave that up all at once, stays in doubt, and earns next to
        nothing of what it had gained; the doubt came before the loss.

    Why it matters:
        Something pays for randomness more than the task pays for good actions.

    Usual causes:
        An entropy bonus that was raised, or whose schedule counts in other units; a temperature that grew; a penalty
        that outweighs the advantages.

    What to try:
        Print coefficient times entropy beside the policy's loss of one update; look at the coefficient's schedule.

    When it is harmless:
        Exploration that is raised on purpose, as after a change of the task.

    References:
        Ahmed et al. 2019, arXiv 1811.11214 (what entropy does to policy optimisation).
    """
    entropy, reward = view.get(ENTROPY), view.get(*RETURN)
    assert entropy is not None
    assert reward is not None
    place = climbs(entropy, params)
    if place is None or (sudden(entropy, place, params) and not large(view, float(entropy.step[place + 1]), params)):
        return None
    at, opening = float(entropy.step[place]), median(reward.value[: params.rows])
    before, after = reward.value[reward.step <= at][-2 * params.rows :], reward.value[-params.rows :]
    if before.size < params.rows or float(reward.step[-params.rows]) <= at:
        return None
    gained = median(before) - opening
    best = median(reward.value[reward.step <= at][-4 * params.rows :])
    if gained <= 0.5 * abs(opening) or median(before) < opening + 0.7 * (best - opening):
        return None
    if median(after) > opening + (1 - params.lost) * gained:
        return None
    low, now = float(entropy.value[place]), median(entropy.value[-params.rows :])
    return Detection(
        message=f"entropy rose from {low:.3g} to {now:.3g} at once; then return fell from {median(before):.4g} to "
        f"{median(after):.4g}",
        onset=view.onset(at, float(entropy.step[place + 1])),
        metric=ENTROPY,
        evidence={"entropy_before": low, "entropy_after": now, "return": median(after), "before": median(before)},
    )


def climbs(entropy: Points, params: Params) -> int | None:
    """Return the last row before entropy regained at once most of what it had lost, and stayed there; None if never."""
    value, size = entropy.value, params.rows
    opening = float(value[:3].max())
    if opening <= 0 or value.size < 3 * size + params.within:
        return None
    # What is to be regained is no less than this from wherever it is asked: few places have it.
    goal = params.regained * opening + (1 - params.regained) * float(value.min())
    whole = np.flatnonzero(least_of(value, size)[params.within :] >= goal)
    for place in whole[(whole >= 2 * size) & (whole < value.size - params.within - size)].tolist():
        recent = value[place - size : place + 1]
        level = median(recent)
        if level > params.fallen * opening:
            continue
        goal = level + params.regained * (opening - level)
        later = value[place + params.within :]
        moves = np.abs(value[params.within : place + 1] - value[: place + 1 - params.within])
        usual = float(moves[-2 * size :].max()) if moves.size else 0.0
        steep = later[0] - level >= params.steep * usual or float(value[place + 3]) - level >= 0.5 * (opening - level)
        if float(later[:size].min()) >= goal and steep and float(value[place + 1]) > recent.max():
            return place
    return None


def sudden(entropy: Points, place: int, params: Params) -> bool:
    """Whether the row after `place` holds most of the climb."""
    goal = median(entropy.value[place + params.within :][: params.rows])
    start = float(entropy.value[place])
    return float(entropy.value[place + 1]) - start > params.sudden * (goal - start)


def large(view: RunView, at: float, params: Params) -> bool:
    """Whether the update at step `at`, or the one before, was far larger than those before it."""
    kl = view.get("policy/kl_old", "policy/kl_k1", "policy/clip_fraction")
    if kl is None:
        return False
    now, past = kl.value[kl.step <= at][-2:], kl.value[kl.step <= at][:-2][-20:]
    return past.size >= params.rows and float(now.max()) >= params.steep * float(np.abs(past).max())
