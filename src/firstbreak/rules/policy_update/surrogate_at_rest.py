"""The rule `surrogate-at-rest`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.policy_update import loudest_at_rest
from firstbreak.view import RunView

LOSS = "policy/loss"
SPREAD = ("policy/entropy", "policy/action_std")
RETURN = ("reward/episode_return_mean", "reward/episode_return", "reward/raw_episode_return")


@dataclass(frozen=True)
class Params:
    """Thresholds of `surrogate-at-rest`."""

    nil: float = 1e-5
    """Loss of the policy up to which no ratio has left 1. With advantages of mean 0 it is rounding then, some 1e-7; in
    the healthy PPO runs of the fault benchmark's development half (2026-11-25) the largest of 30 is above 6e-4."""
    rows: int = 30
    """Rows from the first one on. Engineering default: the length of a drift test."""
    rests: float = 1e-3
    """Range of entropy, or of the spread of actions, as a share of its opening, within which it rests; as in
    `policy-frozen`. Engineering default."""


PPO = synth.like("PPO")
STILL = {LOSS: synth.flat(0.0, 1e-7), "policy/entropy": synth.ramp(1.42, 1.4199, 1e-6)}
CASES = (
    fires("a rate a thousand times too small", lambda: PPO(STILL)),
    healthy("moves", lambda: PPO({})),
    near_miss("one step a batch: the loss is 0, the entropy moves", lambda: PPO({LOSS: synth.flat(0.0, 1e-9)})),
    near_miss(
        "a spread that is not trained, and a policy that moves",
        lambda: PPO({"policy/entropy": synth.constant(1.42), LOSS: synth.flat(-0.003, 0.5)}),
    ),
)


@rule(
    "POL071",
    "surrogate-at-rest",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    needs=(LOSS,),
    any_of=(SPREAD, RETURN),
    when=("control", "ppo_clip"),
    min_points=30,
    params=Params(),
    cases=CASES,
    implies=("reward-flat", "entropy-stuck-high", "critic-not-learning"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The policy's loss is 0 but for rounding in every row, and its entropy stays where it began.

    What it means:
        Advantages that are normalised have mean 0, so the surrogate is 0 as long as every ratio is 1. Several passes
        over a batch by a policy that moves make it a thousand times larger and more.

    Why it matters:
        Nothing is being learned, and nothing else in such a log says so.

    Usual causes:
        A learning rate that is far too small; the optimiser holds parameters of another network; gradients are clipped
        to nothing, or detached; old log-probabilities computed again with the weights of now.

    What to try:
        Compare the policy's weights before and after one update.

    When it is harmless:
        One optimiser step on each batch leaves the loss at 0; then entropy moves.

    References:
        Schulman et al. 2017, arXiv 1707.06347, equation 7.
    """
    loss, spread, reward = view.get(LOSS), view.get(*SPREAD), view.get(*RETURN)
    assert loss is not None
    assert spread is not None
    if len(loss) < params.rows or len(spread) < params.rows or reward is None or reward.max == reward.min:
        return None
    moved = float(np.ptp(spread.value))
    if float(np.abs(loss.value).max()) > params.nil or moved > params.rests * abs(spread.first):
        return None
    return Detection(
        message=f"the policy's loss is at most {np.abs(loss.value).max():.1g} in {len(loss)} rows; nothing moves it",
        onset=view.onset(loss.step[0]),
        metric=loudest_at_rest(view, loss).metric,
        evidence={"largest_loss": float(np.abs(loss.value).max()), "spread_moved": moved, "rows": len(loss)},
    )
