"""How widely a trainer tries continuous actions, on trainings that are really carried out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from firstbreak.check import find_check, look_at
from firstbreak.finding import Skip
from firstbreak.probes.adapters.function import reach_function
from firstbreak.probes.ladder.trial import Order, Trial
from firstbreak.probes.running.here import Here


class Still:
    """Answers with one action."""

    def __init__(self, action: Any) -> None:
        self.action = action

    def act(self, obs: Any, deterministic: bool) -> Any:
        return self.action


def trainer(width: Any, after: float | None = None, centre: float = 0.0) -> Any:
    """Gaussian noise of `width` half-ranges, by dimension; `after` a half of the steps that of another width."""

    def train(make_env: Any, *, total_steps: int, seed: int) -> Still:
        env, draw = make_env(), np.random.default_rng(seed)
        space = env.action_space
        if hasattr(space, "n") or hasattr(space, "nvec"):
            for _ in range(total_steps):
                env.reset()
                env.step(space.sample())
            return Still(space.sample())
        middle, half = (space.high + space.low) / 2, (space.high - space.low) / 2
        for i in range(total_steps):
            spread = np.asarray(after if after is not None and 2 * i > total_steps else width)
            noise = np.broadcast_to(spread, half.shape) * draw.normal(size=half.shape)
            env.reset()
            env.step((middle + half * (centre + noise)).astype(np.float32))
        return Still(middle)

    return train


def look(train: Any, *rungs: str, kind: Any = "continuous") -> Any:
    trial = Trial(Here(reach_function(train, "train", 400)))
    trial.get([Order(rung, kind, 0) for rung in rungs or ("bandit-action", "action-dimensions", "constant-value")])
    found = look_at(find_check("exploration-too-narrow"), trial)
    assert found.error == ""
    return found


@pytest.mark.parametrize(("width", "centre"), [(0.005, 0.0), (0.001, 0.5), (0.0, 0.0)])
def test_a_spread_near_zero_is_found(width: float, centre: float) -> None:
    found = look(trainer(width, centre=centre))
    assert found.symptom is not None
    assert found.symptom.evidence["spread_half_ranges"] == pytest.approx(width, abs=0.002)


def test_one_narrow_dimension_of_two_is_found() -> None:
    assert look(trainer([0.5, 0.003][:2]), "action-dimensions").symptom is not None


@pytest.mark.parametrize("width", [0.3, 1.0])
def test_usual_widths_are_fine(width: float) -> None:
    found = look(trainer(width))
    assert (found.symptom, found.skip) == (None, None)


def test_near_misses_small_noise_and_a_spread_that_falls_later_are_fine() -> None:
    for train in (trainer(0.05), trainer(0.5, after=0.0005), trainer(0.1, centre=0.9)):
        found = look(train)
        assert (found.symptom, found.skip) == (None, None)


def test_discrete_actions_do_not_concern_it() -> None:
    assert isinstance(look(trainer(0.5), "bandit-action", kind="discrete").skip, Skip)
