"""The rule `policy-jumps`."""

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
    """Thresholds of `policy-jumps`. Engineering defaults."""

    before: int = 10
    """Updates that say what is usual."""
    factor: float = 1.5
    """Entropy of the row of the jump over the largest of the sixteen rows before."""
    left: float = 0.6
    """Share of the reward's level that is left."""
    lasts: int = 3
    """Rows for which both have lasted."""


ENTROPY = "policy/entropy"
REWARD = ("reward/train_mean", "reward/rollout_mean")
GRPO = synth.like("GRPO")
CASES = (
    fires(
        "less certain and worse from one update to the next",
        lambda: GRPO({ENTROPY: synth.jump(0.4, 1.6), REWARD[0]: synth.jump(0.7, 0.1)}),
    ),
    healthy("learns", lambda: GRPO({})),
    near_miss("worse, as certain as before", lambda: GRPO({REWARD[0]: synth.jump(0.7, 0.1)})),
    near_miss(
        "both move over many updates",
        lambda: GRPO({ENTROPY: synth.ramp(0.4, 1.6), REWARD[0]: synth.ramp(0.7, 0.1)}),
    ),
)


@rule(
    "POL036",
    "policy-jumps",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    needs=(ENTROPY,),
    any_of=(REWARD,),
    when=("language",),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=(
        "return-collapse",
        "truncation-growing",
        "zero-std-groups",
        "reward-flat",
        "reward-std-collapse",
        "entropy-growing",
        "grad-norm-explosion",
        "empty-responses",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """From one update to the next the policy became far less certain and far worse, as no usual update makes it.

    What it means:
        Entropy left everything recent upwards and the reward fell, both within the same row, and it stayed so.

    Why it matters:
        What was learned is gone, or the responses are no longer drawn from what is trained.

    Usual causes:
        Weights overwritten, loaded from elsewhere or damaged; one enormous update; sampling settings that changed,
        above all a higher temperature.

    What to try:
        Compare the weights with those of the checkpoint before; draw from both at temperature 1. If both answer well,
        the sampler's settings have changed.

    When it is harmless:
        When another model was loaded on purpose.

    References:
        None; the rule reads off two steps in one row.
    """
    entropy, reward = view.get(ENTROPY), view.get(*REWARD)
    assert entropy is not None
    assert reward is not None
    shared, at_entropy, at_reward = np.intersect1d(entropy.step, reward.step, return_indices=True)
    place = jumped(entropy.value[at_entropy], reward.value[at_reward], params)
    if place is None:
        return None
    values = entropy.value[at_entropy]
    before, now = median(values[max(0, place - 8) : place]), median(values[place : place + params.lasts])
    return Detection(
        message=f"entropy went from {before:.3g} to {now:.3g} nats in one update, and the reward fell with it",
        onset=view.onset(float(shared[place - 1]), float(shared[place])),
        metric=ENTROPY,
        evidence={"before_nats": before, "after_nats": now},
    )


def jumped(entropy: Floats, reward: Floats, params: Params) -> int | None:
    """Return the place at which entropy [n] jumped up and reward [n] fell, within a row of each other."""
    for place in range(params.before, entropy.size - params.lasts + 1):
        recent, after = slice(max(0, place - 16), place), slice(place, place + params.lasts)
        level = median(reward[recent])
        up = entropy[recent].max() > 0 and bool(np.all(entropy[after] > params.factor * entropy[recent].max()))
        # A sampler's row may show the reward of the policy before the update whose entropy it shows.
        down = level > 0 and bool(np.all(reward[after][1:] < params.left * level))
        if up and down and float(reward[recent].min()) > float(reward[after][1:].max()):
            return place
    return None
