"""The rule `reward-sum-off`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-sum-off`. Engineering defaults."""

    most: float = 1.5
    """Reward over the sum of its parts, each taken by size: that a function skips responses cannot explain it."""
    rows: int = 5
    """Consecutive rows."""


WHOLE, PART = "reward/train_mean", "reward/component"
TWO = synth.like("GRPO", config={"reward_weights": [1.0, 0.1], "reward_funcs": ["correct", "form"]})
RIGHT = synth.ramp(0.3, 0.6, 0.0)


def summed(weight: float) -> synth.Shape:
    """A reward of the two parts, the second by `weight`."""
    return synth.ramp(0.3 + weight * 0.9, 0.6 + weight * 0.9, 0.0)


PARTS = {f"{PART}@correct": RIGHT, f"{PART}@form": synth.constant(0.9)}
CASES = (
    fires(
        "the second part counts a hundred times as much as the settings say", lambda: TWO(PARTS | {WHOLE: summed(10)})
    ),
    healthy("the sum by the settings", lambda: TWO(PARTS | {WHOLE: summed(0.1)})),
    near_miss("a function that scores some responses only", lambda: TWO(PARTS | {WHOLE: summed(0.03)})),
)


@rule(
    "RWD036",
    "reward-sum-off",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    needs=(WHOLE,),
    when=("language",),
    min_points=5,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("zero-std-groups", "component-dominates", "format-reward-dominates", "reward-redefined"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The reward is far more than its parts add up to with the weights in the settings.

    What it means:
        Mean reward and mean of each part are logged for the same responses; with the weights of the settings the parts
        must add up. They fall short by a third and more.

    Why it matters:
        The policy is paid by other weights than those that were chosen, most often for a part that was meant as a
        nudge.

    Usual causes:
        Weights overwritten, in another order than the functions, or applied twice; a bonus that is added outside.

    What to try:
        Print weights, functions and the sum for one response.

    When it is harmless:
        Where something is added on purpose that is not logged as a part.

    References:
        None; the rule reads off an identity.
    """
    whole, parts = view.get(WHOLE), view.family(PART)
    weights, names = view.config("reward_weights"), view.config("reward_funcs")
    assert whole is not None
    if not isinstance(weights, list) or not isinstance(names, list):
        return Skip("the weights of the parts are not known", ("reward_weights", "reward_funcs"))
    known = dict(zip(cast(list[str], names), cast(list[float], weights), strict=False))
    if set(known) != set(parts) or any(not np.array_equal(p.step, whole.step) for p in parts.values()):
        return None
    most = cast(Floats, sum(abs(known[name] * points.value) for name, points in parts.items()))
    over = persistent_onset(whole.step, np.abs(whole.value) > params.most * most + 1e-9, params.rows)
    if over is None:
        return None
    place = int(np.searchsorted(whole.step, over[1]))
    return Detection(
        message=f"reward is {whole.value[place]:.3g}; its parts add up to {most[place]:.3g} with the weights set",
        onset=view.onset(*over),
        metric=WHOLE,
        evidence={"reward": float(whole.value[place]), "sum_of_parts": float(most[place])},
    )
