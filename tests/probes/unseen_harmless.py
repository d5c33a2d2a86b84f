"""Trainers that are odd and right: nothing may be found wrong with any of them. See unseen_mutants.toml."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium as gym
import stable_baselines3 as sb3
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn
from torch.nn.functional import mse_loss, smooth_l1_loss
from torch.nn.utils import clip_grad_norm_
from torch.optim import Adam

from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.networks import mlp
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.sac import SAC, SACConfig, descend

from .mutation import with_defaults
from .planting import train_function

CONFIGS: dict[str, Any] = {"ppo": PPOConfig, "dqn": DQNConfig, "sac": SACConfig, "mmrkhs": MMRKHSConfig}


def __getattr__(name: str) -> Any:
    return train_function(name, globals(), CONFIGS.get(name.removeprefix("train_").split("_")[0], PPOConfig))


def configured(original: type, default: Any, **changes: Any) -> type:
    """The trainer with other settings than its defaults."""

    def __init__(self: Any, make_env: Any, *, seed: int = 0, config: Any = None) -> None:  # noqa: N807
        original.__init__(self, make_env, seed=seed, config=replace(config or default(), **changes))

    return type(original.__name__, (original,), {"__init__": __init__})


# ---- PPO ------------------------------------------------------------------------------------------------------------


class ppo_value_clipped(PPO):  # noqa: N801
    """The larger of the clipped and the unclipped error, around the value at collection."""

    def loss(self, minibatch: Any) -> Any:
        terms = super().loss(minibatch)
        value, target = self.critic(minibatch["obs"]), minibatch["value_target"]
        near = minibatch["value"] + (value - minibatch["value"]).clamp(-0.2, 0.2)
        error = torch.maximum((value - target) ** 2, (near - target) ** 2).mean()
        return {**terms, "value": self.config.value_coef * error}


class ppo_value_huber(PPO):  # noqa: N801
    """A Huber loss of the critic."""

    def loss(self, minibatch: Any) -> Any:
        error = smooth_l1_loss(self.critic(minibatch["obs"]), minibatch["value_target"])
        return {**super().loss(minibatch), "value": self.config.value_coef * error}


class ppo_normalised_over_rollout(PPO):  # noqa: N801
    """Advantages are standardised once, over the rollout, and not in the minibatches."""

    def advantages(self, rollout: Any) -> Any:
        rollout = super().advantages(rollout)
        advantage = rollout["advantage"]
        rollout["advantage"] = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        return rollout

    def normalised(self, advantage: Any) -> Any:
        return advantage


class ppo_tanh_executed(PPO):  # noqa: N801
    """The environment gets tanh of the drawn action; the action before it is stored, with its log-prob."""

    def executed(self, action: Any) -> Any:
        if self.discrete:
            return action
        middle, half = (self.high + self.low) / 2, (self.high - self.low) / 2
        return middle + half * torch.tanh((action - middle) / half)


class ppo_two_optimisers(PPO):  # noqa: N801
    """One Adam for the actor, one with another learning rate for the critic."""

    def __init__(self, make_env: Any, *, seed: int = 0, config: Any = None) -> None:
        super().__init__(make_env, seed=seed, config=config)
        del self.optimiser
        self.actor_optimiser = Adam(self.actor.parameters(), lr=3e-4, eps=1e-5)
        self.critic_optimiser = Adam(self.critic.parameters(), lr=1e-3, eps=1e-5)

    def step(self, minibatch: Any) -> Any:
        terms = self.loss(minibatch)
        norms = 0.0
        parts = (
            (self.actor_optimiser, self.actor, terms["policy"] + terms["entropy"]),
            (self.critic_optimiser, self.critic, terms["value"]),
        )
        for optimiser, network, term in parts:
            optimiser.zero_grad()
            term.backward()
            norms += float(clip_grad_norm_(network.parameters(), self.config.max_grad_norm)) ** 2
            optimiser.step()
        self.gradient_steps += 1
        return {**{name: float(term.detach()) for name, term in terms.items()}, "grad_norm": norms**0.5}

    def learn(self, total_steps: int, log: Any = None) -> None:
        while self.env_steps < total_steps:
            metrics = self.update(self.collect())
            if log is not None:
                log({**metrics, **self.episodes.drain()}, self.env_steps)

    def _named(self, mean: dict[str, float]) -> dict[str, float]:
        self.optimiser = self.actor_optimiser
        named = super()._named(mean)
        del self.optimiser
        return named


ppo_monte_carlo_undiscounted = configured(PPO, PPOConfig, gae_lambda=1.0, gamma=1.0)
ppo_stops_at_kl = configured(PPO, PPOConfig, target_kl=0.01, clip_range=0.05, entropy_coef=0.0)
ppo_one_big_minibatch = configured(PPO, PPOConfig, num_minibatches=1, update_epochs=1, normalises_advantage=False)

# ---- DQN ------------------------------------------------------------------------------------------------------------


class dqn_squared_error(DQN):  # noqa: N801
    """Mean squared error in the place of Huber's."""

    def loss(self, sample: Any) -> Any:
        return {"value": mse_loss(self.chosen(sample), self.td_target(sample))}


class _Dueling(nn.Module):
    """V plus A minus the mean of A."""

    def __init__(self, width: int, actions: int) -> None:
        super().__init__()
        self.trunk = mlp(width, 32, (32,))
        self.value, self.advantage = nn.Linear(32, 1), nn.Linear(32, actions)

    def forward(self, obs: Any) -> Any:
        features = torch.relu(self.trunk(obs))
        advantage = self.advantage(features)
        return self.value(features) + advantage - advantage.mean(-1, keepdim=True)


class dqn_dueling(DQN):  # noqa: N801
    """A dueling network, and its copy as the target."""

    def __init__(self, make_env: Any, *, seed: int = 0, config: Any = None) -> None:
        super().__init__(make_env, seed=seed, config=config)
        width = self._now["observation"].shape[-1]
        self.q_network, self.target_network = (_Dueling(width, self.actions) for _ in range(2))
        self.target_network.requires_grad_(False)
        self.sync_target()
        self.optimiser = Adam(self.q_network.parameters(), lr=self.config.learning_rate)


class dqn_target_follows_softly(DQN):  # noqa: N801
    """The target moves by 1 % after every gradient step."""

    def __init__(self, make_env: Any, *, seed: int = 0, config: Any = None) -> None:
        super().__init__(make_env, seed=seed, config=replace(config or DQNConfig(), target_interval=1))

    @torch.no_grad()
    def sync_target(self) -> None:
        for target, online in zip(self.target_network.parameters(), self.q_network.parameters(), strict=True):
            target.lerp_(online, 0.01)


class dqn_prioritised(DQN):  # noqa: N801
    """Rows are drawn by their last error to the power of 0.6, and weighted against it to the power of 0.4."""

    def __init__(self, make_env: Any, *, seed: int = 0, config: Any = None) -> None:
        super().__init__(make_env, seed=seed, config=config)
        self.priority = torch.zeros(self.config.buffer_size)

    def collect(self) -> Any:
        rows = super().collect()
        slots = (self.env_steps - 1 - torch.arange(len(rows["obs"]))) % self.config.buffer_size
        self.priority[slots] = max(1.0, float(self.priority.max()))
        return rows

    def sample(self) -> Any:
        held = self.priority[: len(self.buffer)] ** 0.6
        index = torch.multinomial(held, self.config.batch_size, replacement=True)
        weight = (held.sum() / (len(held) * held[index])) ** 0.4
        rows: Any = self.buffer[index]
        rows["index"], rows["weight"] = index, weight / weight.max()
        return rows

    def loss(self, sample: Any) -> Any:
        error = smooth_l1_loss(self.chosen(sample), self.td_target(sample), reduction="none")
        weight = sample["weight"] if "weight" in sample else torch.ones_like(error)
        return {"value": (weight * error).mean()}

    def step(self, sample: Any) -> Any:
        metrics = super().step(sample)
        if "index" in sample:
            with torch.no_grad():
                self.priority[sample["index"]] = (self.chosen(sample) - self.td_target(sample)).abs() + 1e-6
        return metrics


dqn_single_estimator = configured(DQN, DQNConfig, double=False)
dqn_in_bursts = configured(DQN, DQNConfig, burst=16, train_frequency=1.0)

# ---- SAC, MM-RKHS ---------------------------------------------------------------------------------------------------

sac_fixed_temperature = configured(SAC, SACConfig, alpha_learnt=False, alpha_initial=0.2)
sac_own_target_entropy = configured(SAC, SACConfig, target_entropy_nats=-0.3, tau=0.02)


class sac_actor_every_second_step(SAC):  # noqa: N801
    """The actor is trained in every second step, twice, as CleanRL does."""

    def step(self, sample: Any) -> Any:
        target = self.td_target(sample)
        critic_loss = self.critic_loss(sample, target)
        descend(self.critic_optimiser, critic_loss)
        metrics = {"critic/loss": critic_loss.detach(), "critic/target_mean": target.mean()}
        for _ in range(2 if self.gradient_steps % 2 == 0 else 0):
            action, log_prob = self.actor.sample(sample["obs"])
            actor_loss = self.actor_loss(sample, (action, log_prob))
            descend(self.actor_optimiser, actor_loss)
            descend(self.alpha_optimiser, self.alpha_loss(sample, log_prob))
            metrics |= {"policy/loss": actor_loss.detach(), "policy/entropy": -log_prob.detach().mean()}
        self.sync_target()
        self.gradient_steps += 1
        return {**metrics, "sac/alpha": self.alpha.detach()}


mmrkhs_draft_form = configured(MMRKHS, MMRKHSConfig, form="draft")

# ---- Stable-Baselines3 ----------------------------------------------------------------------------------------------


class _Features(BaseFeaturesExtractor):
    """One hidden layer that actor and critic share."""

    def __init__(self, space: Any, features_dim: int = 32) -> None:
        super().__init__(space, features_dim)
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(int(gym.spaces.flatdim(space)), features_dim), nn.Tanh())

    def forward(self, obs: Any) -> Any:
        return self.net(obs)


sb3_ppo_shared_features = with_defaults(sb3.PPO, "PPO", policy_kwargs={"features_extractor_class": _Features})
sb3_ppo_value_clipped = with_defaults(sb3.PPO, "PPO", clip_range_vf=0.2, target_kl=0.02)
sb3_ppo_state_dependent_noise = with_defaults(sb3.PPO, "PPO", use_sde=True, sde_sample_freq=4)
sb3_ppo_not_normalised = with_defaults(sb3.PPO, "PPO", normalize_advantage=False, ent_coef=0.01, gamma=0.9)
sb3_a2c_adam_and_gae = with_defaults(sb3.A2C, "A2C", use_rms_prop=False, gae_lambda=0.9, normalize_advantage=True)
sb3_dqn_three_steps = with_defaults(sb3.DQN, "DQN", n_steps=3)
sb3_dqn_soft_target = with_defaults(sb3.DQN, "DQN", tau=0.01, target_update_interval=1, gradient_steps=2)
sb3_sac_fixed_temperature = with_defaults(sb3.SAC, "SAC", ent_coef=0.1)
sb3_sac_three_steps = with_defaults(sb3.SAC, "SAC", n_steps=3)
sb3_sac_state_dependent_noise = with_defaults(sb3.SAC, "SAC", use_sde=True)
