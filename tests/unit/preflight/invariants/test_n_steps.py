"""Rows of several steps against sums by hand, and Stable-Baselines3's buffer of them, right and wrong."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from stable_baselines3 import DQN, SAC
from stable_baselines3.common.buffers import NStepReplayBuffer

from firstbreak.diagnosis import Verdict
from firstbreak.preflight.invariants.adapters import sb3_off_policy
from firstbreak.preflight.invariants.api import inspect_trainer
from firstbreak.preflight.invariants.gae import slow_n_step

torch.set_num_threads(1)
GAMMA = 0.5


def record() -> dict[str, Any]:
    """One environment: an episode that terminates after three steps, one that is cut after two, one step more."""
    off = torch.zeros(6, 1, dtype=torch.bool)
    ended, cut = off.clone(), off.clone()
    ended[2], cut[4] = True, True
    reward = torch.tensor([1.0, 2.0, 4.0, 8.0, 16.0, 32.0]).unsqueeze(-1)
    after = torch.arange(6.0).reshape(6, 1, 1)
    return {"reward": reward, "terminated": ended, "truncated": cut, "next_obs": after}


def test_rows_of_two_steps_stop_at_either_ending_and_at_the_end_of_the_record() -> None:
    found = slow_n_step(record(), GAMMA, 2)
    assert found["reward"].flatten().tolist() == [2.0, 4.0, 4.0, 16.0, 16.0, 32.0]
    assert found["next_obs"].flatten().tolist() == [1.0, 2.0, 2.0, 4.0, 4.0, 5.0]
    assert found["terminated"].flatten().tolist() == [False, True, True, False, False, False]
    assert found["truncated"].flatten().tolist() == [False, False, False, True, True, False]


def test_rows_of_one_step_are_the_record() -> None:
    found, columns = slow_n_step(record(), GAMMA, 1), record()
    assert all(torch.equal(found[key], columns[key]) for key in columns)


class Across(NStepReplayBuffer):
    """Sums on over time limits, into the next episode."""

    def _get_samples(self, batch_inds: Any, env: Any = None) -> Any:
        kept = self.timeouts.copy(), self.dones.copy()
        self.dones[self.timeouts > 0] = 0
        self.timeouts[:] = 0
        try:
            return super()._get_samples(batch_inds, env)
        finally:
            self.timeouts, self.dones = kept


def of_three(algorithm: Any, buffer: Any) -> type:
    class NStep(algorithm):
        def __init__(self, *args: Any, **settings: Any) -> None:
            rows = {"n_steps": 3, "gamma": 0.99}
            super().__init__(*args, **settings, replay_buffer_class=buffer, replay_buffer_kwargs=rows)

    return NStep


@pytest.mark.parametrize("algorithm", [DQN, SAC])
def test_a_buffer_of_several_steps_is_no_fault(algorithm: Any) -> None:
    seen = inspect_trainer(of_three(algorithm, NStepReplayBuffer))
    assert [f.message for f in seen.findings] == []
    assert seen.verdict is Verdict.HEALTHY
    assert {"stored-reward-differs", "td-target-discount-wrong"} <= {*seen.clear}


def test_a_sum_that_runs_into_the_next_episode_is_seen() -> None:
    seen = inspect_trainer(of_three(DQN, Across))
    assert seen.first_break is not None
    assert seen.first_break.name == "stored-reward-differs"


@pytest.mark.parametrize("seed", range(8))
def test_twins_of_which_one_is_smaller_by_chance_are_taken_rightly(seed: int) -> None:
    from firstbreak.check import find_check, look_at
    from firstbreak.preflight.invariants.bench import Bench

    found = look_at(
        find_check("td-target-twin-minimum-missing"), Bench(sb3_off_policy.build(SAC, "continuous", seed), seed)
    )
    assert (found.symptom, found.skip, found.error) == (None, None, "")
