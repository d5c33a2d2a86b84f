"""Every fault of Stable-Baselines3 in the eighth list does what eighth.toml says."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import eighth_doses
import eighth_sb3
from eighth_sb3_plants import PLANTS, optimisers
from worlds import Truth

STEPS = {"sb3_ppo_buoy": 512, "sb3_dqn_counters": 520, "sb3_sac_buoy": 215}
"""Environment steps before a fault: more than any of the subjects waits before it learns."""


def trained(subject: str) -> tuple[Any, Truth]:
    """Return a model that has learned for some steps."""
    torch.set_num_threads(1)
    truth = Truth()
    model = eighth_sb3.built(subject, 0, None, truth)
    model.learn(STEPS[subject])
    return model, truth


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what begins a fault in a trainer that has learned for some steps."""

    def plant(subject: str, fault: str, dose: float = 1) -> Any:
        monkeypatch.setitem(eighth_doses.CHOSEN, (fault, subject), dose)
        model, truth = trained(subject)
        switch = eighth_sb3.Switch(subject, truth, fault, 0.55)
        switch.at = 0
        switch.init_callback(model)
        switch.num_timesteps = truth.steps = model.num_timesteps
        assert switch._on_step()
        assert switch.truth.began == model.num_timesteps
        return switch

    return plant


def sampled(model: Any) -> Any:
    """Return a sample of the replay buffer, the same of equal models."""
    np.random.seed(0)
    return model.replay_buffer.sample(64)


def test_faults_begin_between_two_fifths_and_three_fifths(planted: Any) -> None:
    found = [eighth_doses.earlier(share) for share in (0.55, 0.675, 0.8)]
    assert found == pytest.approx([0.4, 0.5, 0.6])
    assert planted("sb3_ppo_buoy", "low-bound-lost").truth.fault == "low-bound-lost"


def test_every_optimiser_is_found_and_has_the_fault(planted: Any) -> None:
    for subject, count in (("sb3_ppo_buoy", 1), ("sb3_sac_buoy", 3), ("sb3_dqn_counters", 1)):
        model = planted(subject, "moments-swapped").model
        assert [one.param_groups[0]["betas"] for one in optimisers(model)] == [(0.999, 0.9)] * count
    model, whole = planted("sb3_ppo_buoy", "averaged-with-a-stranger", 0.5).model, trained("sb3_ppo_buoy")[0]
    model.train()
    parts = [torch.cat([w.detach().flatten() for w in m.policy.mlp_extractor.parameters()]) for m in (model, whole)]
    assert float((parts[0] - parts[1]).abs().mean()) > 0.05


def test_the_rate_falls_below_nothing_by_the_end() -> None:
    model = eighth_sb3.built("sb3_sac_buoy", 0, None, Truth())
    model._current_progress_remaining = 0.4
    PLANTS["rate-below-nothing"](SimpleNamespace(model=model), 3)
    assert [model.lr_schedule(0.4), model.lr_schedule(0.0)] == pytest.approx([0.002, -0.006])


def fresh(buffer: Any) -> None:
    """Write what a new rollout would: any numbers, each of them another."""
    buffer.reset()
    generator = np.random.default_rng(0)
    for name in ("actions", "rewards", "values"):
        rows = getattr(buffer, name)
        rows[:] = generator.normal(size=rows.shape)
    buffer.episode_starts[:] = generator.random(buffer.episode_starts.shape) < 0.1


def test_actions_are_of_the_row_before(planted: Any) -> None:
    buffer = planted("sb3_ppo_buoy", "action-row-before").model.rollout_buffer
    fresh(buffer)
    before = buffer.actions.copy()
    buffer.compute_returns_and_advantage(torch.zeros(8), np.zeros(8))
    assert np.array_equal(buffer.actions, np.roll(before, 1, axis=0))
    model, whole = planted("sb3_dqn_counters", "action-row-before").model, trained("sb3_dqn_counters")[0]
    buffer = model.replay_buffer
    rows = np.arange(5, 15)
    found = buffer._get_samples(rows)
    assert np.array_equal(found.actions.numpy(), buffer.actions[rows - 1, 0])
    assert torch.equal(found.rewards, whole.replay_buffer._get_samples(rows).rewards)


def test_what_follows_is_valued_as_what_was(planted: Any) -> None:
    buffer = planted("sb3_ppo_buoy", "value-row-off").model.rollout_buffer
    fresh(buffer)
    buffer.gae_lambda = 0.0
    dones = np.arange(8) % 2
    buffer.compute_returns_and_advantage(torch.zeros(8), dones)
    ends = np.vstack([buffer.episode_starts[1:], dones])
    expected = buffer.rewards + (buffer.gamma * (1 - ends) - 1) * buffer.values
    assert np.allclose(buffer.advantages, expected, atol=1e-5)
    assert np.allclose(buffer.returns, expected + buffer.values, atol=1e-5)


def test_the_spread_is_taken_for_its_logarithm(planted: Any) -> None:
    model = planted("sb3_ppo_buoy", "exponent-twice").model
    policy = model.policy.get_distribution(torch.zeros(1, 6)).distribution
    assert torch.allclose(policy.stddev[0], model.policy.log_std.exp().exp())
    model, whole = planted("sb3_sac_buoy", "exponent-twice").model, trained("sb3_sac_buoy")[0]
    obs = sampled(model).observations
    found, expected = (m.actor.get_action_dist_params(obs)[1] for m in (model, whole))
    assert torch.allclose(found, expected.exp(), atol=1e-4)


@pytest.mark.parametrize("fault", ["base-plays", "head-left-out"])
def test_who_plays_has_first_weights_and_who_learns_has_not(fault: str, planted: Any) -> None:
    switch = planted("sb3_ppo_buoy", fault)
    model = switch.model
    learned = {name: weight.clone() for name, weight in model.policy.state_dict().items()}
    seen: list[dict[str, Any]] = []

    class Looks(eighth_sb3.BaseCallback):
        def _on_step(self) -> bool:
            seen.append({name: weight.clone() for name, weight in self.model.policy.state_dict().items()})
            return True

    looks = Looks()
    looks.init_callback(model)
    model.collect_rollouts(model.env, looks, model.rollout_buffer, 64)
    first = {"action_net.weight"} | ({"mlp_extractor.policy_net.0.weight"} if fault == "base-plays" else set())
    for name, weight in learned.items():
        assert torch.equal(model.policy.state_dict()[name], weight)
        if name.endswith("net.0.weight") or name in first:
            assert torch.equal(seen[0][name], model.first_weights[name] if name in first else weight), name


def test_samples_are_turned_and_cut(planted: Any) -> None:
    whole = sampled(trained("sb3_sac_buoy")[0])
    assert torch.equal(sampled(planted("sb3_sac_buoy", "mask-turned").model).dones, 1 - whole.dones)
    found = sampled(planted("sb3_sac_buoy", "kept-as-bytes").model)
    assert torch.equal(found.observations, whole.observations.trunc())
    assert torch.equal(found.next_observations, whole.next_observations.trunc())


def test_rows_are_stored_blank_or_in_other_units(planted: Any) -> None:
    for fault, dose in (("rows-blank", 1), ("actions-in-other-units", 10)):
        buffer = planted("sb3_sac_buoy", fault, dose).model.replay_buffer
        place = buffer.pos
        obs, action = np.ones((1, 6), np.float32), np.full((1, 2), 0.5, np.float32)
        buffer.add(obs, obs, action, np.ones(1), np.ones(1), [{}])
        if fault == "rows-blank":
            parts = (buffer.observations, buffer.actions, buffer.rewards, buffer.dones)
            assert not any(part[place].any() for part in parts)
        else:
            assert np.allclose(buffer.actions[place, 0], 5)
            assert np.array_equal(buffer.observations[place], obs)


def test_one_value_is_taken_for_the_whole_batch(planted: Any) -> None:
    model, whole = planted("sb3_dqn_counters", "extreme-of-batch").model, trained("sb3_dqn_counters")[0]
    obs = sampled(model).next_observations
    assert torch.equal(model.q_net_target(obs), torch.full((64, 3), float(whole.q_net_target(obs).detach().max())))
    model, whole = planted("sb3_sac_buoy", "extreme-of-batch").model, trained("sb3_sac_buoy")[0]
    sample = sampled(model)
    found = torch.cat(model.critic_target(sample.observations, sample.actions))
    expected = torch.cat(whole.critic_target(sample.observations, sample.actions)).min()
    assert torch.allclose(found, expected.expand_as(found))


def test_the_entropy_has_the_wrong_sign_where_no_gradient_is_asked_for(planted: Any) -> None:
    model, whole = planted("sb3_sac_buoy", "entropy-turned").model, trained("sb3_sac_buoy")[0]
    obs = sampled(model).observations
    found: list[Any] = []
    for one in (model, whole):
        torch.manual_seed(0)
        with torch.no_grad():
            found.append(one.actor.action_log_prob(obs)[1])
        found.append(one.actor.action_log_prob(obs)[1])
    assert torch.equal(found[0], -found[2])
    assert torch.equal(found[1], found[3])


def test_the_correction_is_dropped(planted: Any) -> None:
    model = planted("sb3_sac_buoy", "correction-dropped").model
    obs = sampled(model).observations
    action, log_prob = model.actor.action_log_prob(obs)
    mean, log_std, _ = model.actor.get_action_dist_params(obs)
    before = torch.atanh(action.clamp(-1 + 1e-6, 1 - 1e-6))
    expected = torch.distributions.Normal(mean, log_std.exp()).log_prob(before).sum(1)
    inner = action.abs().max(1).values < 0.99
    assert torch.allclose(log_prob[inner], expected[inner], atol=1e-2)


def test_the_coin_is_turned_and_what_is_logged_is_not(planted: Any) -> None:
    model = planted("sb3_dqn_counters", "coin-turned").model
    model.exploration_rate = 0.04
    obs = np.zeros((1, 7), np.float32)
    greedy = int(model.q_net(torch.as_tensor(obs)).argmax())
    np.random.seed(0)
    chosen = [int(model.predict(obs)[0][0]) for _ in range(300)]
    assert np.mean([action != greedy for action in chosen]) == pytest.approx(0.96 * 2 / 3, abs=0.1)
    assert model.exploration_rate == 0.04
    assert int(model.predict(obs, deterministic=True)[0][0]) == greedy
