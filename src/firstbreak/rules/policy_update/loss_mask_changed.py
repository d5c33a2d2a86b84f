"""The rule `loss-mask-changed`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `loss-mask-changed`. Engineering defaults."""

    before: int = 10
    """Updates that say what is usual."""
    lasts: int = 8
    """Updates for which it has lasted."""
    factor: float = 2.0
    """Entropy over the median of the updates before."""
    above: float = 1.1
    """Entropy over the largest of the updates before, in each of the rows that follow."""
    steady: float = 0.25
    """Change of reward and of length, as a share of their level, under which the responses are the same as before."""


ENTROPY, LENGTH = "policy/entropy", "seq/len_mean"
REWARD = ("reward/train_mean", "reward/rollout_mean")
GRPO = synth.like("GRPO")
STEADY = {LENGTH: synth.flat(150, 0.02), "reward/train_mean": synth.ramp(0.3, 0.6, 0.03)}
CASES = (
    fires("three times the entropy at once", lambda: GRPO(STEADY | {ENTROPY: synth.jump(0.4, 1.3)})),
    healthy("entropy falls slowly", lambda: GRPO(STEADY | {ENTROPY: synth.ramp(0.6, 0.3)})),
    near_miss("entropy rises slowly", lambda: GRPO(STEADY | {ENTROPY: synth.ramp(0.3, 1.2)})),
    near_miss(
        "the policy was damaged: the reward falls with it",
        lambda: GRPO({ENTROPY: synth.jump(0.4, 1.6), "reward/train_mean": synth.jump(0.6, 0.05)}),
    ),
)


@rule(
    "POL034",
    "loss-mask-changed",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS_MASK,
    severity=Severity.WARNING,
    needs=(ENTROPY, LENGTH),
    any_of=(REWARD,),
    when=("language",),
    min_points=20,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Entropy stepped up from one update to the next, while responses and rewards stayed what they were.

    What it means:
        Entropy is averaged over the tokens that the loss holds. Had the policy become that much less certain, its
        responses would have changed; so what the average is taken over has.

    Why it matters:
        Tokens that the policy did not write (prompts, tool output, padding) are then trained on as if it had.

    Usual causes:
        A loss mask that is no longer applied, or is shifted; a template whose prompt part is longer than the mask.

    What to try:
        Print the tokens of one sequence with the mask below them; `firstbreak preflight invariants --tokens` asks a
        trainer.

    When it is harmless:
        When the logging of entropy was changed, or the mask on purpose.

    References:
        None; the rule compares one average with the text that it is taken over.
    """
    entropy, length, reward = view.get(ENTROPY), view.get(LENGTH), view.get(*REWARD)
    assert entropy is not None
    assert length is not None
    assert reward is not None
    place = stepped_up(entropy.value, params)
    if place is None:
        return None
    at = float(entropy.step[place])
    if not (unmoved(length.step, length.value, at, params) and unmoved(reward.step, reward.value, at, params)):
        return None
    before, now = median(entropy.value[:place][-8:]), median(entropy.value[place : place + params.lasts])
    return Detection(
        message=f"entropy went from {before:.3g} to {now:.3g} nats in one update; responses and rewards did not change",
        onset=view.onset(float(entropy.step[place - 1]), at),
        metric=ENTROPY,
        evidence={"before_nats": before, "after_nats": now},
    )


def stepped_up(value: Floats, params: Params) -> int | None:
    """Return the place at which `value` [n] left everything before at once, upwards, and stayed there."""
    most = np.maximum.accumulate(value)
    for place in range(params.before, value.size - params.lasts + 1):
        after = value[place : place + params.lasts]
        if not np.all(after > params.above * most[place - 1]):
            continue
        usual = median(value[max(0, place - 16) : place])
        if usual > 0 and median(after) > params.factor * usual:
            return place
    return None


def unmoved(step: Floats, value: Floats, at: float, params: Params) -> bool:
    """Whether a metric lies where it lay, on both sides of `at`."""
    before, after = value[step < at][-8:], value[step >= at][:8]
    if min(before.size, after.size) < 4 or median(before) == 0:
        return False
    return abs(median(after) - median(before)) <= params.steady * abs(median(before))
