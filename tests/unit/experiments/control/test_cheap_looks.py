"""What experiments without a learning curve collect and play is a small share of the steps of the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import gymnasium
import numpy as np
import pytest

from firstbreak.experiments import Subject, Trial
from firstbreak.experiments.catalogue.oracle_against_random import measure as oracle_against_random
from firstbreak.experiments.control.taking_apart import collected_of
from firstbreak.experiments.trial import BOTH

played: list[int] = []


class Patience(gymnasium.Env[Any, Any]):
    """Episodes of 500 steps; each start that is played is noted."""

    observation_space = gymnasium.spaces.Box(-1, 1, (1,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        played.append(cast(int, seed))
        self.left = 500
        return np.zeros(1, np.float32), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.left -= 1
        return np.zeros(1, np.float32), float(action), self.left == 0, False, {}


def patient(observation: Any) -> int:
    """The expert."""
    del observation
    return 1


@pytest.mark.parametrize(("run_steps", "starts"), [(40_000, 5), (100_000, 11), (1_000_000, 20), (None, 20)])
def test_an_expert_of_long_episodes_plays_fewer_starts_where_the_run_is_short(
    run_steps: int | None, starts: int
) -> None:
    played.clear()
    subject = Subject("", f"{__name__}:Patience", run_steps, {}, {"expert": f"{__name__}:patient"})
    random, expert = oracle_against_random.measure(Trial(subject, BOTH, {}, 0, Path()))
    assert len(set(played)) == starts
    assert len(played) == 2 * starts, "both policies from the same starts"
    assert (random["paid_more_frac"], expert["paid_more_frac"]) == (0.0, 1.0)


def test_little_is_collected_beside_a_short_run() -> None:
    steps = (None, 40_000, 10_000, 5_000, 100)
    assert [collected_of(Subject("m:train", "E", n)) for n in steps] == [300, 300, 200, 128, 128]
