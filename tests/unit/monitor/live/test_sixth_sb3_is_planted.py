"""Every fault of Stable-Baselines3 in the sixth live list does what sixth.toml says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import sixth_sb3
from sixth_sb3_plants import FEW, OVERWRITTEN, RANDOM, SERVED, SWIFT, VALUE_CLIP
from worlds import Truth

STEPS = 700
"""Environment steps before a fault: more than any of the subjects waits before it learns."""


def planted(subject: str, fault: str) -> Any:
    """Return what has begun `fault` in a trainer that has learned for some steps."""
    torch.set_num_threads(1)
    truth = Truth()
    model = sixth_sb3.built(subject, 0, None, truth)
    model.learn(STEPS)
    switch = sixth_sb3.Switch(truth, fault, 0.0, 2 * STEPS)
    switch.init_callback(model)
    switch.num_timesteps = truth.steps = model.num_timesteps
    assert switch._on_step()
    assert switch.truth.began == model.num_timesteps
    return switch


def returns(switch: Any) -> Any:
    """Compute the returns of a rollout of zeros but for what the test has written; return the buffer."""
    buffer = switch.model.rollout_buffer
    buffer.compute_returns_and_advantage(torch.zeros(buffer.n_envs), np.zeros(buffer.n_envs))
    return buffer


def fresh(switch: Any, level: float) -> None:
    """Write what a new rollout would."""
    buffer = switch.model.rollout_buffer
    buffer.reset()
    for name in ("observations", "rewards", "values", "log_probs"):
        getattr(buffer, name)[:] = level


def test_a_fault_of_the_environment_begins_there_once() -> None:
    switch = planted("sb3_dqn_descend", "end-unseen")
    assert switch.truth.fault == "end-unseen"
    switch.truth.fault = ""
    switch._on_step()
    assert switch.truth.fault == ""


@pytest.mark.parametrize("subject", ["sb3_dqn_descend", "sb3_sac_arm"])
def test_what_is_kept_is_what_came_next(subject: str) -> None:
    switch = planted(subject, "observations-overwritten")
    buffer, first = switch.model.replay_buffer, switch.model.replay_buffer.size()
    switch.model.learn(200, reset_num_timesteps=False)
    rows = slice(first, buffer.size())
    same = (buffer.observations[rows, 0] == buffer.next_observations[rows, 0]).all(axis=-1)
    assert same.mean() == pytest.approx(OVERWRITTEN, abs=0.12)
    assert not (buffer.observations[:first, 0] == buffer.next_observations[:first, 0]).all(axis=-1).any()


def test_rewards_are_shifted() -> None:
    switch = planted("sb3_ppo_arm", "rewards-shifted")
    fresh(switch, 0.0)
    buffer = switch.model.rollout_buffer
    buffer.rewards[:] = np.arange(len(buffer.rewards))[:, None] + 1
    buffer.episode_starts[10] = 1
    kept = returns(switch).rewards[:, 0]
    assert kept[0] == 0
    assert kept[10] == 0
    assert kept[1:10].tolist() == list(range(1, 10))
    assert kept[11:].tolist() == list(range(11, len(kept)))


def test_the_loss_is_turned() -> None:
    switch = planted("sb3_ppo_arm", "loss-turned")
    fresh(switch, 0.0)
    switch.model.rollout_buffer.rewards[5] = 1.0
    assert returns(switch).advantages[5, 0] == pytest.approx(-1.0)
    assert switch.model.rollout_buffer.returns[5, 0] == pytest.approx(1.0)


def test_values_are_clipped_at_those_of_before() -> None:
    switch = planted("sb3_ppo_arm", "values-clipped-stale")
    assert switch.model.clip_range_vf(0.5) == VALUE_CLIP
    fresh(switch, 1.0)
    assert np.allclose(returns(switch).values, 1.0)
    for level in (2.0, 3.0):
        fresh(switch, level)
        assert np.allclose(returns(switch).values, level - 1)


def test_a_rollout_is_served_again() -> None:
    switch = planted("sb3_ppo_arm", "batch-served-again")
    found: list[Any] = []
    for number in range(SERVED + 1):
        fresh(switch, float(number))
        found.append(returns(switch).observations.mean())
    assert found == [0.0] * SERVED + [float(SERVED)]
    switch.model.learn(600, reset_num_timesteps=False)


def test_a_density_that_is_nothing_has_no_logarithm() -> None:
    switch = planted("sb3_ppo_arm", "log-of-probability")
    policy, obs = switch.model.policy, torch.zeros(2, 8)
    with torch.no_grad():
        found = policy.evaluate_actions(obs, torch.tensor([[0.0, 0.0], [90.0, 90.0]]))[1]
        right = policy.get_distribution(obs).log_prob(torch.zeros(2, 2))
    assert float(found[0]) == pytest.approx(float(right[0]), abs=0.01)
    assert float(found[1]) == float("-inf")


@pytest.mark.filterwarnings("ignore:Using a target size")
def test_targets_are_a_table() -> None:
    switch = planted("sb3_sac_arm", "targets-broadcast")
    found = switch.model.replay_buffer.sample(64)
    assert found.rewards.shape == (64,)
    assert (found.rewards + (1 - found.dones)).shape == (64, 64)
    switch.model.train(1, 64)


def test_targets_are_swift() -> None:
    switch = planted("sb3_sac_arm", "targets-swift")
    assert switch.model.tau == SWIFT
    switch.model.train(1, 64)


def test_epsilon_climbs_from_what_it_was() -> None:
    switch = planted("sb3_dqn_descend", "epsilon-climbs")
    model, left = switch.model, switch.model._current_progress_remaining
    first = model.exploration_rate
    model._current_progress_remaining = left
    found = [model.exploration_schedule(left * share) for share in (1.0, 0.5, 0.0)]
    assert found == pytest.approx([first, (first + RANDOM) / 2, RANDOM], abs=0.05)


def test_replay_holds_the_newest_few() -> None:
    switch = planted("sb3_sac_arm", "replay-tiny")
    buffer = switch.model.replay_buffer
    newest = buffer.observations[STEPS - FEW : STEPS, 0].copy()
    rows = buffer.sample(500).observations.numpy()
    assert all((newest == row).all(axis=-1).any() for row in rows)
    switch.model.learn(FEW + 50, reset_num_timesteps=False)
    assert buffer.full
    assert buffer.pos < FEW


def test_who_resumes_has_no_moments_and_no_statistics() -> None:
    switch = planted("sb3_ppo_arm", "resumed-half")
    assert not switch.model.policy.optimizer.state
    assert switch.truth.fault == "normaliser-anew"
    switch.model.learn(600, reset_num_timesteps=False)
    assert switch.model.policy.optimizer.state
