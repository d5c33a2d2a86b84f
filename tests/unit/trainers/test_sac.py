"""SAC: each equation against a slow twin, what is stored, what each optimiser moves, and a task it must solve."""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace
from importlib.resources import files
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from tensordict import TensorDict
from torch import Tensor
from torch.distributions import Independent, Normal, TransformedDistribution
from torch.distributions.transforms import AffineTransform, TanhTransform

from firstbreak.trainers.sac import SAC, SACConfig, train
from firstbreak.trainers.squashed_gaussian import SquashedGaussian

torch.set_num_threads(1)

SMALL = SACConfig(hidden_sizes=(16, 16), batch_size=32, buffer_size=2_000, log_every_steps=20)


class Counting(gym.Env[Any, Any]):
    """obs = (steps so far, episodes so far); ends after `length` steps, by truncation or by termination."""

    def __init__(self, length: int = 3, *, truncates: bool = True) -> None:
        self.observation_space = gym.spaces.Box(-1e3, 1e3, (2,), np.float32)
        self.action_space = gym.spaces.Box(np.array([-2.0, 0.0], np.float32), np.array([1.0, 4.0], np.float32))
        self.length, self.truncates = length, truncates
        self.steps = self.episodes = 0
        self.received: list[np.ndarray] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.steps, self.episodes = 0, self.episodes + 1
        return self._obs(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        self.received.append(np.array(action))
        self.steps += 1
        end = self.steps == self.length
        return self._obs(), float(self.steps), end and not self.truncates, end and self.truncates, {}

    def _obs(self) -> np.ndarray:
        return np.array([self.steps, self.episodes], np.float32)


class Bandit(gym.Env[Any, Any]):
    """One step; the reward is highest at the action 1.5 of [-2, 2]."""

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.action_space = gym.spaces.Box(-2.0, 2.0, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        return np.zeros(1, np.float32), -float((action[0] - 1.5) ** 2), True, False, {}


def filled(**changes: Any) -> SAC:
    trainer = SAC(Counting, seed=0, config=replace(SMALL, **changes))
    for _ in range(60):
        trainer.collect()
    return trainer


def policy(seed: int = 0, dims: int = 2) -> SquashedGaussian:
    torch.manual_seed(seed)
    low, high = torch.tensor([-2.0, 0.0])[:dims], torch.tensor([1.0, 4.0])[:dims]
    return SquashedGaussian(3, low, high, (8,))


def weights(*modules: torch.nn.Module) -> list[Tensor]:
    return [weight for module in modules for weight in module.parameters()]


# ---- the policy ------------------------------------------------------------------------------------------------------


def test_log_prob_is_that_of_torch_s_own_squashed_gaussian() -> None:
    actor, obs = policy(), torch.randn(50, 3)
    action, log_prob = actor.sample(obs)
    mean, log_std = actor(obs)
    layers = [TanhTransform(cache_size=1), AffineTransform(actor.centre, actor.half_range, event_dim=1)]
    twin = TransformedDistribution(Independent(Normal(mean, log_std.exp()), 1), layers)
    torch.testing.assert_close(log_prob, twin.log_prob(action), atol=2e-3, rtol=1e-3)
    torch.testing.assert_close(actor.log_prob(obs, action), log_prob, atol=2e-2, rtol=1e-2)


def test_the_density_integrates_to_1_over_the_action_box() -> None:
    actor, obs = policy(dims=1), torch.randn(1, 3)
    grid = torch.linspace(-2.0 + 1e-4, 1.0 - 1e-4, 20_000)[:, None]
    density = actor.log_prob(obs.expand(len(grid), -1), grid).exp()
    assert float(density.detach().mean()) * 3.0 == pytest.approx(1.0, abs=1e-2)


def test_samples_stay_within_bounds_that_are_not_symmetric_and_fill_them() -> None:
    actor = policy()
    with torch.no_grad():
        actor.net[-1].bias[2:] = 1.0  # a wide Gaussian
        action, _ = actor.sample(torch.randn(2_000, 3))
    low, high = torch.tensor([-2.0, 0.0]), torch.tensor([1.0, 4.0])
    assert (action >= low).all()
    assert (action <= high).all()
    assert (action.amin(0) < low + 0.1).all()
    assert (action.amax(0) > high - 0.1).all()


def test_the_first_policy_is_centred_for_every_state() -> None:
    actor = policy()
    assert (actor.mode(torch.randn(100, 3) * 10) - actor.centre).abs().max() < 0.5


@pytest.mark.parametrize("edge", [-1.0, 1.0])
def test_the_log_prob_is_finite_on_the_bounds_and_far_out(edge: float) -> None:
    actor, obs = policy(dims=1), torch.zeros(1, 3)
    assert torch.isfinite(actor.log_prob(obs, actor.centre + edge * actor.half_range)).all()
    with torch.no_grad():
        actor.net[-1].bias[0] = 40.0 * edge  # tanh(40) rounds to 1
    action, log_prob = actor.sample(obs)
    assert torch.isfinite(log_prob).all()
    log_prob.sum().backward()
    assert all(torch.isfinite(weight.grad).all() for weight in actor.parameters() if weight.grad is not None)
    assert float((action.detach() - actor.centre).abs()) <= float(actor.half_range) + 1e-6


# ---- what is stored --------------------------------------------------------------------------------------------------


def test_a_truncated_row_keeps_the_final_observation_and_the_next_row_starts_anew() -> None:
    rows = torch.cat(list(filled().buffer.storage[:6].unsqueeze(0)))
    assert rows["obs"][:, 0].tolist() == [0, 1, 2, 0, 1, 2]
    assert rows["next_obs"][:, 0].tolist() == [1, 2, 3, 1, 2, 3]
    assert (rows["obs"][:, 1] == rows["next_obs"][:, 1]).all(), "no row reaches into another episode"
    assert rows["truncated"].tolist() == [False, False, True] * 2
    assert not rows["terminated"].any()
    assert rows["reward"].tolist() == [1, 2, 3] * 2


def test_the_stored_action_is_the_executed_one() -> None:
    worlds: list[Counting] = []

    def make() -> Counting:
        worlds.append(Counting())
        return worlds[-1]

    trainer = SAC(make, seed=0, config=replace(SMALL, learning_starts=10))
    for _ in range(40):
        trainer.collect()
    stored = trainer.buffer.storage[:40]["action"].numpy()
    received = next(np.array(world.received) for world in worlds if len(world.received) >= 40)
    assert np.allclose(stored, received[-40:], atol=1e-6)
    assert (stored[:, 0] < -1.0).any(), "stretched to the bounds"
    assert (stored[:, 1] > 3.0).any()


# ---- the equations ---------------------------------------------------------------------------------------------------


def test_the_target_is_the_equation_row_by_row() -> None:
    trainer = filled(gamma=0.9)
    sample = trainer.sample()
    sample["terminated"][::3] = True
    torch.manual_seed(7)
    target = trainer.td_target(sample)
    torch.manual_seed(7)
    action, log_prob = trainer.actor.sample(sample["next_obs"])
    for i in range(len(sample)):
        expected = float(sample["reward"][i])
        if not sample["terminated"][i]:
            pair = sample["next_obs"][i : i + 1], action[i : i + 1].detach()
            q = [float(critic(*pair)) for critic in trainer.target_critics]
            expected += 0.9 * (min(q) - float(trainer.alpha.detach()) * float(log_prob[i].detach()))
        assert float(target[i]) == pytest.approx(expected, abs=1e-4)
    assert not target.requires_grad


def test_termination_masks_the_entropy_term_and_truncation_nothing() -> None:
    trainer = filled(alpha_initial=1e3)
    sample = trainer.sample()
    sample["terminated"][:] = True
    assert torch.equal(trainer.td_target(sample), sample["reward"])
    sample["terminated"][:], sample["truncated"][:] = False, True
    assert (trainer.td_target(sample) - sample["reward"]).abs().min() > 1.0


def test_losses_leave_the_other_networks_alone() -> None:
    trainer = filled()
    sample = trainer.sample()
    trainer.critic_loss(sample).backward()
    assert all(weight.grad is None for weight in weights(trainer.actor, *trainer.target_critics))
    assert all(weight.grad is not None for weight in weights(*trainer.critics))
    trainer.critic_optimiser.zero_grad()
    trainer.actor_loss(sample).backward()
    assert all(weight.grad is not None for weight in weights(trainer.actor))
    assert all(weight.grad is None for weight in weights(*trainer.critics))
    assert trainer.log_alpha.grad is None
    assert all(weight.requires_grad for weight in weights(*trainer.critics)), "thawed again"


def test_the_actor_climbs_the_smaller_critic() -> None:
    """At alpha 0 the actor's gradient is minus that of min Q at its own action."""
    trainer = filled(alpha_initial=1e-30)
    sample = trainer.sample()
    torch.manual_seed(3)
    before = trainer.actor_loss(sample)
    for _ in range(20):
        torch.manual_seed(3)
        trainer.actor_optimiser.zero_grad()
        trainer.actor_loss(sample).backward()
        trainer.actor_optimiser.step()
    torch.manual_seed(3)
    action, _ = trainer.actor.sample(sample["obs"])
    q = torch.stack([critic(sample["obs"], action) for critic in trainer.critics]).amin(0)
    assert float(-q.mean().detach()) < float(before.detach())


@pytest.mark.parametrize(("surplus", "moves"), [(-1.0, 1), (1.0, -1)])
def test_the_temperature_rises_below_the_entropy_target_and_falls_above(surplus: float, moves: int) -> None:
    trainer = filled()
    log_prob = torch.full((32,), -(trainer.target_entropy + surplus))
    trainer.alpha_loss(trainer.sample(), log_prob).backward()
    assert trainer.log_alpha.grad is not None
    assert math.copysign(1, -float(trainer.log_alpha.grad)) == moves


def test_the_target_entropy_counts_the_bounds() -> None:
    assert filled().target_entropy == pytest.approx(-2 + math.log(1.5) + math.log(2.0))
    assert filled(target_entropy_nats=-0.3).target_entropy == -0.3


# ---- the update ------------------------------------------------------------------------------------------------------


def test_each_weight_is_in_one_optimiser_and_moves_in_one_step() -> None:
    trainer = filled()
    groups = [trainer.actor_optimiser, trainer.critic_optimiser, trainer.alpha_optimiser]
    held = [weight for optimiser in groups for group in optimiser.param_groups for weight in group["params"]]
    trained = [*weights(trainer.actor, *trainer.critics), trainer.log_alpha]
    assert sorted(map(id, held)) == sorted(map(id, trained))
    before = [weight.detach().clone() for weight in trained]
    trainer.step(trainer.sample())
    for old, new in zip(before, trained, strict=True):
        assert not torch.equal(old, new)


def test_twins_differ_and_targets_start_as_copies_and_move_by_tau() -> None:
    trainer = filled(tau=0.25)
    first, second = (weights(critic) for critic in trainer.critics)
    assert not any(torch.equal(a, b) for a, b in zip(first, second, strict=True) if a.ndim == 2)
    online, target = weights(*trainer.critics), weights(*trainer.target_critics)
    assert all(torch.equal(a, b) for a, b in zip(online, target, strict=True))
    with torch.no_grad():
        for weight in online:
            weight.add_(1.0)
    before = [weight.clone() for weight in target]
    trainer.sync_target()
    for old, new in zip(before, target, strict=True):
        torch.testing.assert_close(new, old + 0.25)


def test_a_fixed_temperature_stays() -> None:
    trainer = filled(alpha_learnt=False, alpha_initial=0.2)
    trainer.step(trainer.sample())
    assert float(trainer.alpha) == pytest.approx(0.2)
    assert "temperature" not in trainer.loss(trainer.sample())


@pytest.mark.parametrize("num_envs", [1, 3])
def test_gradient_steps_are_counted_per_environment_step(num_envs: int) -> None:
    trainer = SAC(Counting, seed=0, config=replace(SMALL, num_envs=num_envs, gradient_steps=0.5))
    trainer.learn(60)
    assert trainer.random_steps == 6, "a tenth of the run, not the 1,000 of the settings"
    assert trainer.gradient_steps == pytest.approx(0.5 * (trainer.env_steps - 6), abs=1.0)


# ---- runs ------------------------------------------------------------------------------------------------------------


def state(trainer: SAC) -> list[Tensor]:
    return [weight.detach().clone() for weight in weights(trainer.actor, *trainer.critics)]


def test_the_same_seed_gives_the_same_run_bit_for_bit_and_another_does_not() -> None:
    one, same, other = (state(train(Counting, total_steps=60, seed=seed, config=SMALL)) for seed in (1, 1, 2))
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_it_logs_canonical_names_that_fill_the_profile() -> None:
    rows: list[tuple[int, dict[str, float]]] = []
    train(Counting, total_steps=120, seed=0, config=SMALL, log=lambda metrics, step: rows.append((step, metrics)))
    vocabulary = files("firstbreak") / "vocabulary"
    known = tomllib.loads((vocabulary / "metrics.toml").read_text())
    profile = tomllib.loads((vocabulary / "algorithms.toml").read_text())["SAC"]["profile"]
    named = {name for _, metrics in rows for name in metrics}
    assert named <= set(known)
    assert all(named & set(group) for group in profile)
    assert len(rows) >= 4
    assert all(type(value) is float and math.isfinite(value) for _, metrics in rows for value in metrics.values())
    returns = [metrics["reward/episode_return_mean"] for _, metrics in rows if "reward/episode_return_mean" in metrics]
    assert set(returns) == {6.0}


def test_the_rates_in_the_log_are_those_of_the_optimisers_and_not_those_of_the_settings() -> None:
    trainer, rows = SAC(Counting, seed=0, config=SMALL), []

    def log(metrics: dict[str, float], step: int) -> None:
        rows.append((metrics["optim/lr"], metrics["optim/critic_lr"]))
        trainer.actor_optimiser.param_groups[0]["lr"] = 0.5
        trainer.critic_optimiser.param_groups[0]["lr"] = 0.25

    trainer.learn(120, log)
    assert rows[0] == (SMALL.actor_lr, SMALL.critic_lr)
    assert set(rows[1:]) == {(0.5, 0.25)}


def test_gamma_of_the_call_wins() -> None:
    assert train(Counting, total_steps=12, seed=0, gamma=0.5, config=SMALL).gamma == 0.5


def test_act_and_q_take_what_gymnasium_gives() -> None:
    trainer, world = filled(), Counting()
    obs, _ = world.reset()
    action = trainer.act(obs, deterministic=True)
    assert world.action_space.contains(action)
    assert (action == trainer.act(obs, deterministic=True)).all()
    assert not (trainer.act(obs) == trainer.act(obs)).all()
    pair = [torch.as_tensor(x)[None] for x in (obs, action)]
    assert trainer.q(obs, action) == pytest.approx(min(float(critic(*pair).detach()) for critic in trainer.critics))


def test_it_finds_the_best_arm_of_a_continuous_bandit() -> None:
    config = replace(SMALL, batch_size=64, actor_lr=3e-3, critic_lr=3e-3, alpha_lr=1e-2, target_entropy_nats=-2.0)
    trainer = train(Bandit, total_steps=500, seed=0, config=config)
    action = trainer.act(np.zeros(1, np.float32), deterministic=True)
    assert float(action[0]) == pytest.approx(1.5, abs=0.25)
    assert trainer.q(np.zeros(1), np.array([1.5])) == pytest.approx(0.0, abs=0.3)
    assert trainer.q(np.zeros(1), np.array([1.5])) > trainer.q(np.zeros(1), np.array([-1.0])) + 3.0


def test_a_sample_is_a_tensordict_of_the_batch_size() -> None:
    sample = filled().sample()
    assert isinstance(sample, TensorDict)
    assert set(sample.keys()) >= {"obs", "action", "reward", "next_obs", "terminated"}
    assert sample.batch_size == (32,)
