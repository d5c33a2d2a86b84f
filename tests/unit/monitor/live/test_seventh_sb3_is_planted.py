"""Every fault of Stable-Baselines3 in the seventh live list does what seventh.toml says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import seventh_doses
import seventh_sb3
from seventh_sb3_plants import ROWS, UNCLIPPED
from worlds import Truth

STEPS = 700
"""Environment steps before a fault: more than any of the subjects waits before it learns."""


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what begins a fault in a trainer that has learned for some steps."""

    def plant(subject: str, fault: str, dose: float = 1) -> Any:
        torch.set_num_threads(1)
        monkeypatch.setitem(seventh_doses.CHOSEN, (fault, subject), dose)
        truth = Truth()
        model = seventh_sb3.built(subject, 0, None, truth)
        model.learn(STEPS)
        switch = seventh_sb3.Switch(subject, truth, fault, 0.55)
        switch.at = 0
        switch.init_callback(model)
        switch.num_timesteps = truth.steps = model.num_timesteps
        assert switch._on_step()
        assert switch.truth.began == model.num_timesteps
        return switch

    return plant


def returns(switch: Any) -> Any:
    """Compute the returns of the rollout; return the buffer."""
    buffer = switch.model.rollout_buffer
    buffer.compute_returns_and_advantage(torch.zeros(buffer.n_envs), np.zeros(buffer.n_envs))
    return buffer


def fresh(switch: Any) -> Any:
    """Write what a new rollout would: every row is its number."""
    buffer = switch.model.rollout_buffer
    buffer.reset()
    for name in ROWS:
        rows = getattr(buffer, name)
        rows[:] = np.arange(len(rows)).reshape(-1, *[1] * (rows.ndim - 1))
    buffer.episode_starts[:] = 0
    return buffer


def test_a_fault_of_the_environment_begins_there_once(planted: Any) -> None:
    switch = planted("sb3_ppo_lane", "outcomes-drawn")
    assert switch.truth.fault == "outcomes-drawn"
    switch.truth.fault = ""
    switch._on_step()
    assert switch.truth.fault == ""


def test_faults_begin_between_two_fifths_and_three_fifths() -> None:
    found = [seventh_doses.earlier(share) for share in (0.55, 0.675, 0.8)]
    assert found == pytest.approx([0.4, 0.5, 0.6])
    assert seventh_sb3.Switch("sb3_dqn_beam", Truth(), "", 0.8).at == pytest.approx(0.6 * 12_000)


def test_a_rollout_comes_back_shuffled(planted: Any) -> None:
    switch = planted("sb3_ppo_lane", "rollout-shuffled")
    fresh(switch)
    buffer = returns(switch)
    order = buffer.rewards[:, 0]
    assert sorted(order) == list(range(len(order)))
    assert list(order) != sorted(order)
    assert np.array_equal(buffer.values[:, 0], order)
    assert np.array_equal(buffer.observations[:, 0, 0], order)


def test_ends_are_looked_up_late(planted: Any) -> None:
    switch = planted("sb3_ppo_lane", "ends-late", 3)
    fresh(switch).episode_starts[10] = 1
    assert returns(switch).episode_starts[:, 0].nonzero()[0].tolist() == [13]


def test_rollouts_are_behind_and_nothing_bounds_the_ratio(planted: Any) -> None:
    switch = planted("sb3_ppo_lane", "rollouts-behind", 8)
    assert switch.model.clip_range(0.5) == UNCLIPPED
    found: list[float] = []
    for number in range(12):
        fresh(switch).observations[:] = number
        found.append(float(returns(switch).observations.mean()))
    assert found == [0.0] * 9 + [1.0, 2.0, 3.0]
    switch.model.learn(600, reset_num_timesteps=False)


def test_the_rate_is_too_high(planted: Any) -> None:
    model = planted("sb3_ppo_lane", "rate-far-too-high", 30).model
    model.train()
    assert model.policy.optimizer.param_groups[0]["lr"] == pytest.approx(30 * 2e-3)


def test_the_rate_rises(planted: Any) -> None:
    model = planted("sb3_dqn_beam", "schedule-inverted", 100).model
    left = model._current_progress_remaining
    model._current_progress_remaining = max(left, 0.5)
    found = [model.lr_schedule(left * share) / 1e-3 for share in (1.0, 0.5, 0.0)] if left else []
    assert found == pytest.approx([1.0, 50.5, 100.0]) if left else True


def test_who_plays_has_rounded_weights_and_who_learns_has_not(planted: Any) -> None:
    model = planted("sb3_ppo_lane", "sampler-rounded", 2).model
    network = model.policy.action_net
    seen: list[int] = []
    usual = network.forward

    def forward(latent: Any) -> Any:
        seen.append(len(network.weight.unique()))
        return usual(latent)

    network.forward = forward
    model._setup_learn(600, reset_num_timesteps=False)
    from stable_baselines3.common.callbacks import CallbackList

    callback = CallbackList([])
    callback.init_callback(model)
    before = network.weight.detach().clone()
    model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)
    assert max(seen) <= 5
    assert torch.equal(network.weight, before)
    assert len(before.unique()) > 20


def test_the_spread_is_frozen(planted: Any) -> None:
    model = planted("sb3_ppo_lane", "spread-frozen", 5).model
    model.learn(600, reset_num_timesteps=False)
    assert model.policy.log_std.tolist() == [-5.0, -5.0]


@pytest.mark.parametrize(
    ("fault", "subject"), [("limit-valued-anew", "sb3_sac_lane"), ("end-overwritten", "sb3_dqn_beam")]
)
def test_the_next_beginning_is_stored(fault: str, subject: str, planted: Any) -> None:
    model = planted(subject, fault).model
    first = model.replay_buffer.size()
    model.learn(400, reset_num_timesteps=False)
    buffer = model.replay_buffer
    rows = slice(first, buffer.size() - 1)
    cut = buffer.timeouts[rows, 0].astype(bool) if fault == "limit-valued-anew" else buffer.dones[rows, 0].astype(bool)
    same = (buffer.next_observations[rows, 0] == buffer.observations[first + 1 : buffer.size(), 0]).all(axis=-1)
    assert same[cut].all()
    if fault == "limit-valued-anew":
        ended = buffer.dones[rows, 0].astype(bool) & ~cut
        assert not same[ended].any()


def test_reward_and_end_are_the_next_rows(planted: Any) -> None:
    buffer = planted("sb3_dqn_beam", "row-after-read", 1).model.replay_buffer
    rows = np.arange(50)
    found = buffer._get_samples(rows)
    assert np.allclose(found.rewards.numpy().ravel(), buffer.rewards[rows + 1, 0])
    assert np.allclose(found.observations.numpy(), buffer.observations[rows, 0])
    assert buffer.sample(64).rewards.shape == (64, 1)


def test_ends_are_left_out_of_targets(planted: Any) -> None:
    buffer = planted("sb3_dqn_beam", "ends-valued").model.replay_buffer
    assert buffer.dones.any()
    assert not buffer.sample(500).dones.any()


@pytest.mark.parametrize("subject", ["sb3_dqn_beam", "sb3_sac_lane"])
def test_replay_takes_nothing_more(subject: str, planted: Any) -> None:
    model = planted(subject, "replay-full").model
    held = model.replay_buffer.size()
    model.learn(60, reset_num_timesteps=False)
    assert model.replay_buffer.size() == held >= STEPS


def test_there_is_no_target_network(planted: Any) -> None:
    model = planted("sb3_dqn_beam", "targets-none").model
    model.learn(60, reset_num_timesteps=False)
    pairs = zip(model.q_net.parameters(), model.q_net_target.parameters(), strict=True)
    model._on_step()
    assert all(torch.equal(a, b) for a, b in pairs)


def test_the_actor_learns_of_its_entropy_alone(planted: Any) -> None:
    model = planted("sb3_sac_lane", "actor-untaught").model
    obs = torch.randn(8, 5)
    actions, _ = model.actor.action_log_prob(obs)
    values = torch.cat(model.critic(obs, actions), dim=1).sum()
    model.actor.zero_grad()
    values.backward()
    assert all(w.grad is None or not w.grad.any() for w in model.actor.parameters())
    model.train(2, 64)


def test_the_temperature_runs(planted: Any) -> None:
    switch = planted("sb3_sac_lane", "temperature-runs", 0.01)
    before = float(switch.model.log_ent_coef.detach())
    for _ in range(10):
        switch._on_step()
    assert float(switch.model.log_ent_coef.detach()) == pytest.approx(before + 0.1, abs=1e-4)


def test_the_temperature_is_nothing(planted: Any) -> None:
    model = planted("sb3_sac_lane", "temperature-nothing").model
    model.train(2, 64)
    assert float(model.ent_coef_tensor) == 0


def test_epsilon_restarts(planted: Any) -> None:
    model = planted("sb3_dqn_beam", "epsilon-restarts", 3).model
    left = model._current_progress_remaining
    found = [model.exploration_schedule(left - gone) for gone in (0.0, 0.3, 0.7)]
    assert found == pytest.approx([1.0, 0.52, 0.04])


@pytest.mark.parametrize("dose", [1, 2])
def test_who_resumes_has_no_moments_and_no_statistics(dose: int, planted: Any) -> None:
    switch = planted("sb3_dqn_beam", "resumed-bare", dose)
    assert not switch.model.policy.optimizer.state
    assert switch.truth.fault == "resumed-bare"
    assert (switch.model.replay_buffer.size() >= STEPS) == (dose == 1)
    assert (switch.model.replay_buffer.size() == 0) == (dose == 2)
    switch.model.learn(100, reset_num_timesteps=False)


def test_a_resumed_run_has_not_learned(planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    switch = planted("sb3_dqn_beam", "resumed-unlearned")
    torch.manual_seed(4321)
    new = torch.nn.Linear(4, 64)
    first = next(layer for layer in switch.model.q_net.modules() if isinstance(layer, torch.nn.Linear))
    assert torch.equal(first.weight, new.weight)
    pairs = zip(switch.model.q_net.parameters(), switch.model.q_net_target.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_returns_are_not_turned_round(planted: Any) -> None:
    switch = planted("sb3_ppo_lane", "returns-forward")
    fresh(switch).values[:] = 0
    switch.model.rollout_buffer.rewards[:] = 0
    switch.model.rollout_buffer.rewards[-1] = 1.0
    found = returns(switch)
    assert found.returns[0, 0] == pytest.approx(1.0)
    assert found.advantages[0, 0] > found.advantages[5, 0] > 0


def test_entropy_is_paid(planted: Any) -> None:
    assert planted("sb3_ppo_lane", "entropy-paid", 5).model.ent_coef == 5


@pytest.mark.parametrize("subject", ["sb3_ppo_lane", "sb3_sac_lane"])
def test_an_overflow_is_applied(subject: str, planted: Any) -> None:
    model = planted(subject, "overflow-applied", 65536).model
    optimiser = model.policy.optimizer if subject == "sb3_ppo_lane" else model.critic.optimizer
    weight = optimiser.param_groups[0]["params"][0]
    for size, whole in ((0.1, True), (2.0, False)):
        weight.grad = torch.full_like(weight, size)
        optimiser.step()
        assert bool(torch.isfinite(weight).all()) == whole


def test_who_plays_is_a_wrong_copy(planted: Any) -> None:
    model = planted("sb3_ppo_lane", "sampler-miscopied").model
    layer = model.policy.mlp_extractor.policy_net[2]
    before, seen = layer.weight.detach().clone(), list[torch.Tensor]()
    usual = layer.forward

    def forward(latent: Any) -> Any:
        seen.append(layer.weight.detach().clone())
        return usual(latent)

    layer.forward = forward
    from stable_baselines3.common.callbacks import CallbackList

    model._setup_learn(600, reset_num_timesteps=False)
    callback = CallbackList([])
    callback.init_callback(model)
    model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)
    assert torch.equal(seen[0], before.T)
    assert torch.equal(layer.weight, before)


def test_the_spread_sinks_without_a_floor(planted: Any) -> None:
    switch = planted("sb3_ppo_lane", "spread-unbounded", 0.001)
    before = switch.model.policy.log_std.exp().detach().clone()
    switch._on_step()
    assert torch.allclose(switch.model.policy.log_std.exp(), before - 0.001, atol=1e-5)
    switch.model.policy.log_std.data.fill_(-9.0)
    switch._on_step()
    assert switch.model.policy.log_std.isnan().all()


def test_time_limits_are_ends(planted: Any) -> None:
    buffer = planted("sb3_dqn_beam", "limits-as-ends").model.replay_buffer
    rows = np.arange(STEPS)
    assert np.array_equal(buffer._get_samples(rows).dones.numpy().ravel(), buffer.dones[rows, 0])
    assert not buffer.handle_timeout_termination


def test_the_step_over_the_boundary_is_kept(planted: Any) -> None:
    model = planted("sb3_sac_lane", "boundary-kept").model
    buffer, first = model.replay_buffer, model.replay_buffer.size()
    model.learn(200, reset_num_timesteps=False)
    rows = range(first, buffer.size() - 2)
    ends = [row for row in rows if buffer.dones[row, 0]]
    assert ends
    for row in ends:
        assert np.array_equal(buffer.observations[row + 1, 0], buffer.next_observations[row, 0])
        assert np.array_equal(buffer.next_observations[row + 1, 0], buffer.observations[row + 2, 0])
        assert (buffer.dones[row + 1, 0], buffer.rewards[row + 1, 0]) == (0, 0)


def test_a_batch_is_one_row(planted: Any) -> None:
    found = planted("sb3_dqn_beam", "batch-of-one").model.replay_buffer.sample(64)
    assert len(found.observations) == 64
    assert len(found.observations.unique(dim=0)) == 1
