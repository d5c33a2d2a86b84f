"""Every fault of Stable-Baselines3 in the third live list does what third.toml says."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import third_sb3
from third_weights import rounded
from worlds import Truth

STEPS = 700
"""Environment steps before a fault: more than any of the subjects waits before it learns."""


def switch_of(subject: str, fault: str, steps: int = STEPS) -> Any:
    """Return what switched `fault` on in a trainer that has learned for some steps."""
    torch.set_num_threads(1)
    model, evaluation = third_sb3.built(subject, 0, None, Truth())
    model.learn(steps)
    switch = third_sb3.Switch(Truth(), fault, 0.0, 10 * steps)
    switch.evaluation, switch.kept = evaluation, None
    switch.init_callback(model)
    if evaluation is not None:
        evaluation.init_callback(model)
    switch.kept = {key: value.clone() for key, value in model.policy.state_dict().items()}
    return switch


def plant(switch: Any) -> Any:
    switch.num_timesteps = switch.model.num_timesteps
    assert switch._on_step()
    assert switch.truth.began == switch.model.num_timesteps
    return switch.model


def planted(subject: str, fault: str, steps: int = STEPS) -> Any:
    return plant(switch_of(subject, fault, steps))


def weights(module: Any) -> torch.Tensor:
    return torch.cat([w.detach().flatten() for w in module.parameters()])


def test_noise_grows_a_hundredfold() -> None:
    model = planted("sb3_td3_pendulum", "noise-grows")
    began = model.num_timesteps
    usual = np.std([model.action_noise() for _ in range(500)])
    model.num_timesteps = 10 * STEPS
    assert np.std([model.action_noise() for _ in range(500)]) == pytest.approx(100 * usual, rel=0.2)
    model.num_timesteps = began
    model.action_noise.reset()
    model.learn(20, reset_num_timesteps=False)


def test_the_fine_on_entropy_lowers_it() -> None:
    assert planted("sb3_a2c_cartpole", "entropy-sign").ent_coef == -0.1


def test_std_is_e_again() -> None:
    model = planted("sb3_ppo_tank", "std-reset")
    distribution = model.policy.get_distribution(torch.zeros(1, 6)).distribution
    assert distribution.stddev[0].tolist() == pytest.approx([math.e, math.e])


def test_the_rate_rises_to_a_hundredfold() -> None:
    switch = switch_of("sb3_ppo_tank", "rate-rises")
    switch.model._current_progress_remaining = 0.4
    usual = switch.model.lr_schedule(0.4)
    model = plant(switch)
    assert [model.lr_schedule(left) / usual for left in (0.4, 0.2, 0.0)] == pytest.approx([1, 10, 100])


def test_the_old_checkpoint_is_loaded() -> None:
    switch = switch_of("sb3_sac_tank", "checkpoint-old")
    switch.kept = {key: torch.full_like(value, 0.5) for key, value in switch.kept.items()}
    assert set(weights(plant(switch).policy).tolist()) == {0.5}


def test_the_checkpoint_is_kept_after_a_tenth() -> None:
    switch = switch_of("sb3_sac_tank", "checkpoint-old")
    switch.kept, switch.at, switch.total = None, math.inf, 10 * STEPS
    for steps, kept in ((STEPS - 1, False), (STEPS, True)):
        switch.num_timesteps = steps
        switch._on_step()
        assert (switch.kept is not None) == kept


def test_without_second_moments_the_next_step_is_much_larger() -> None:
    def step(fault: str) -> float:
        switch = switch_of("sb3_td3_pendulum", fault)
        model = plant(switch)
        before = weights(model.critic)
        model.train(1, 128)
        return float((weights(model.critic) - before).norm())

    assert step("moments-lost") > 5 * step("")


def test_advantages_are_those_of_other_steps() -> None:
    model = planted("sb3_a2c_cartpole", "advantages-shuffled")
    model.train = lambda: None  # which would put the rollout into another shape
    model.learn(256, reset_num_timesteps=False)
    found, right = model.rollout_buffer.advantages, model.rollout_buffer.returns - model.rollout_buffer.values
    assert not np.allclose(found, right, atol=0.1)
    assert np.sort(found, axis=None) == pytest.approx(np.sort(right, axis=None), abs=1e-3)


def test_no_step_is_an_end_any_more() -> None:
    switch = switch_of("sb3_dqn_forage", "ends-bootstrapped")
    assert switch.model.replay_buffer.dones.any()
    model = plant(switch)
    model.learn(200, reset_num_timesteps=False)
    assert model.ep_info_buffer
    assert not model.replay_buffer.dones.any()


def test_the_critic_is_new_and_the_actor_is_not() -> None:
    switch = switch_of("sb3_ppo_tank", "critic-reborn")
    before = {k: v.clone() for k, v in switch.model.policy.state_dict().items()}
    after = plant(switch).policy.state_dict()
    changed = {key for key in before if not torch.equal(before[key], after[key])}
    assert changed == {key for key in before if "value_net" in key}


def test_the_actors_step_moves_the_critic() -> None:
    def moved(fault: str) -> bool:
        model = planted("sb3_td3_pendulum", fault)
        before = weights(model.critic)
        obs = torch.as_tensor(model.replay_buffer.observations[:64, 0])
        model.actor.optimizer.zero_grad()
        (-model.critic.q1_forward(obs, model.actor(obs)).mean()).backward()
        model.actor.optimizer.step()
        return not torch.equal(before, weights(model.critic))

    assert moved("actor-lifts-critic")
    assert not moved("")


@pytest.mark.parametrize("subject", ["sb3_dqn_forage", "sb3_sac_tank"])
def test_few_rows_are_written_and_drawn(subject: str) -> None:
    model = planted(subject, "buffer-small")
    before = model.replay_buffer.observations.copy()
    model.learn(200, reset_num_timesteps=False)
    changed = np.flatnonzero((model.replay_buffer.observations != before).any(axis=(1, 2)))
    assert changed.max() < 64
    few = {row.tobytes() for row in model.replay_buffer.observations[:64, 0]}
    drawn = model.replay_buffer.sample(500).observations.numpy()
    assert {row.tobytes() for row in drawn} <= few


def test_log_probs_are_those_of_the_rollout_before() -> None:
    model = planted("sb3_ppo_tank", "log-probs-old")
    first = model.rollout_buffer.log_probs.copy()
    model.learn(512, reset_num_timesteps=False)
    assert np.array_equal(np.sort(model.rollout_buffer.log_probs, axis=None), np.sort(first, axis=None))


def test_weights_are_coarse_after_a_step() -> None:
    model = planted("sb3_sac_tank", "weights-coarse")
    before = weights(model.actor)
    model.train(1, 64)
    after = weights(model.actor)
    assert not torch.equal(before, after)
    assert torch.equal(after, rounded(after))
    assert not torch.equal(before, rounded(before))
    exact = torch.tensor([1.0, 1.125, -0.15625, 0.0])
    assert torch.equal(rounded(exact), exact)
    assert float(rounded(torch.tensor(1.05))) == 1.0


def test_evaluation_normalises_by_nothing() -> None:
    switch = switch_of("sb3_ppo_tank", "evaluation-normaliser-lost")
    env, obs = switch.evaluation.eval_env, np.full((1, 6), 1.5, np.float32)
    from stable_baselines3.common.vec_env import sync_envs_normalization

    sync_envs_normalization(switch.model.get_env(), env)
    assert not np.allclose(env.normalize_obs(obs), obs, rtol=0.01)
    model = plant(switch)
    sync_envs_normalization(model.get_env(), env)
    assert np.array_equal(env.normalize_obs(obs), obs)
    assert not np.allclose(model.get_env().normalize_obs(obs), obs, rtol=0.01), "training is as it was"


def test_most_actions_of_an_evaluation_are_random() -> None:
    switch = switch_of("sb3_dqn_forage", "evaluation-explores")
    model = plant(switch)
    obs = np.zeros((1, 4), np.float32)
    told = [int(switch.evaluation.model.predict(obs, deterministic=False)[0][0]) for _ in range(400)]
    assert np.bincount(told, minlength=4).min() > 60
    assert switch.evaluation.model.num_timesteps == model.num_timesteps
    switch.evaluation.n_calls, switch.evaluation.eval_freq = 0, 1
    switch.evaluation.locals = {}
    assert switch.evaluation.on_step()
