"""The rule `actor-follows-no-value`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.runlog import RunLog
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import RunView

LOSS, VALUE = "policy/loss", "critic/q_mean"


@dataclass(frozen=True)
class Params:
    """Thresholds of `actor-follows-no-value`. Of 12 healthy recorded runs of TD3 (ordinary logs, 2026-11-26) each has
    at least 13 standard errors and a gain in every row; one whose actor got no gradient has -0.3 and 58 %."""

    rows: int = 20
    """Rows in which both are logged; the first third does not count: the actor begins with nothing to gain."""
    z: float = 3.0
    """Standard errors by which the actor's own actions must be worth more."""
    share: float = 0.8
    """Share of rows in which they must be."""
    same: float = 0.5
    """Most that the gain may change from row to row, as a share of what the value changes: both are of the same batches
    then. Ordinary logs come to 0.27; where the two are of different batches it is 1, and nothing can be told."""
    moved: float = 0.25
    """Change of the mean value, as a share of its size, from which on there was something to follow."""


def td3(value: synth.Shape, loss: synth.Shape) -> RunLog:
    """Return a run of TD3 with that mean value and that loss of its actor."""
    return synth.run({VALUE: value, LOSS: loss, "reward/episode_return_mean": synth.flat(-90, 0.2)}, algorithm="TD3")


def batch(t: Floats) -> Floats:
    """How much better than usual the states of each batch are [n]: loss and value show it alike."""
    return 3.0 * np.sin(1e4 * t)


def values(t: Floats, rng: np.random.Generator) -> Floats:
    """The mean value of stored actions [n], which falls as it is learned."""
    return batch(t) - 5 - 40 * t


def led(t: Floats, rng: np.random.Generator) -> Floats:
    """A loss [n] of an actor whose actions are worth a tenth more than the stored ones."""
    return 0.9 * (5 + 40 * t) - batch(t) + rng.normal(0, 0.5, t.size)


def unled(t: Floats, rng: np.random.Generator) -> Floats:
    """A loss [n] of an actor whose actions are worth as much as the stored ones, with the noise of a batch."""
    return 5 + 40 * t - batch(t) + rng.normal(0, 0.5, t.size)


def other_batches(t: Floats, rng: np.random.Generator) -> Floats:
    """A loss [n] of an actor whose actions are worth a little more, in batches of which no value is logged."""
    return 4.7 + 40 * t + rng.normal(0, 3.0, t.size)


CASES = (
    fires("no gradient reaches the actor", lambda: td3(values, unled)),
    healthy("climbs", lambda: td3(values, led)),
    near_miss(
        "a loss with an entropy bonus of less than 0",
        lambda: td3(values, lambda t, rng: unled(t, rng) + 3.0),
    ),
    near_miss("loss and value are of different batches", lambda: td3(values, other_batches)),
    near_miss("values at rest: nothing to follow", lambda: td3(synth.flat(-5, 0.01), synth.flat(5, 0.01))),
)


@rule(
    "POL121",
    "actor-follows-no-value",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs=(LOSS, VALUE),
    when=("control", "q_function", "policy_gradient"),
    min_points=20,
    params=Params(),
    cases=CASES,
    implies=("reward-flat", "return-below-start"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The actor's own actions are worth no more to the critic than the stored ones.

    What it means:
        The loss of a deterministic actor is minus the value of its actions in the states of a batch; the critic's mean
        value is that of the actions stored with them. An actor that climbs the value is better in nearly every batch.

    Why it matters:
        The critic learns, and the policy does not follow it.

    Usual causes:
        The action goes through NumPy or `detach` on its way to the critic; the optimiser holds other parameters; a
        learning rate of 0; the loss is taken of the stored actions.

    What to try:
        Print the norm of the actor's gradient after one backward pass.

    When it is harmless:
        With next to no exploration noise stored actions are the actor's own.

    References:
        Fujimoto et al. 2018, arXiv 1802.09477, algorithm 1. Lillicrap et al. 2016, arXiv 1509.02971.
    """
    if view.algorithm != "TD3":
        return Skip("the actor's loss holds more than values: an entropy bonus")
    loss, value = view.get(LOSS), view.get(VALUE)
    assert loss is not None
    assert value is not None
    step, here, there = np.intersect1d(loss.step, value.step, return_indices=True)
    if step.size < params.rows:
        return None
    worth, size = value.value[there], median(np.abs(value.value[there]))
    gain = (-loss.value[here] - worth)[step.size // 3 :]
    if np.std(np.diff(gain)) > params.same * np.std(np.diff(worth[step.size // 3 :])):
        return None
    error = float(np.std(gain)) / np.sqrt(gain.size)
    if size <= 0 or abs(median(worth[-8:]) - median(worth[:3])) < params.moved * size:
        return None
    if abs(float(gain.mean())) >= params.z * error or float(np.mean(gain > 0)) >= params.share:
        return None  # far below 0 it is another loss: an entropy bonus, or the sign of `actor-descends`
    return Detection(
        message=f"the actor's actions are worth {gain.mean():.2g} more than stored ones, of value {median(worth):.3g}",
        onset=view.onset(float(step[0]), float(step[step.size // 3])),
        metric=LOSS,
        evidence={"gain": float(gain.mean()), "standard_error": error, "share_of_rows": float(np.mean(gain > 0))},
    )
