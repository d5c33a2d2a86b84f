"""Unseen mutants of Stable-Baselines3, by id with underscores; see unseen_mutants.toml."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.buffers import ReplayBuffer, RolloutBuffer

from .mutants_sb3 import after_setup, edit, with_replay, with_rollouts
from .mutation import mutated, with_defaults

RATIO = "ratio = th.exp(log_prob - rollout_data.old_log_prob)"
TOTAL = "loss = policy_loss + self.ent_coef * entropy_loss"

sb3_ppo_ratio_inverted = edit(PPO, "train", (RATIO, "ratio = th.exp(rollout_data.old_log_prob - log_prob)"))
sb3_ppo_entropy_sign = with_defaults(
    edit(PPO, "train", (TOTAL, TOTAL.replace("+ self.ent_coef", "- self.ent_coef"))), "MutantPPO", ent_coef=0.01
)
sb3_ppo_value_loss_of_old_values = edit(
    PPO,
    "train",
    ("F.mse_loss(rollout_data.returns, values_pred)", "F.mse_loss(rollout_data.returns, rollout_data.old_values)"),
)
sb3_ppo_advantage_not_shuffled = edit(
    PPO, "train", ("advantages = rollout_data.advantages", "advantages = rollout_data.advantages.sort().values")
)


def _freeze(model: Any) -> None:
    for parameter in model.policy.mlp_extractor.policy_net.parameters():
        parameter.requires_grad_(False)


sb3_ppo_policy_layers_frozen = after_setup(PPO, _freeze)

sb3_a2c_policy_loss_sign = edit(A2C, "train", ("policy_loss = -(advantages", "policy_loss = (advantages"))
sb3_a2c_flags_of_this_step = with_rollouts(
    A2C,
    mutated(
        RolloutBuffer,
        "ThisStep",
        {"compute_returns_and_advantage": [("self.episode_starts[step + 1]", "self.episode_starts[step]")]},
    ),
)
sb3_a2c_trace_without_discount = with_rollouts(
    A2C,
    mutated(
        RolloutBuffer,
        "NoDiscount",
        {"compute_returns_and_advantage": [("delta + self.gamma * self.gae_lambda", "delta + self.gae_lambda")]},
    ),
)

sb3_dqn_target_mean_over_actions = edit(
    DQN, "train", ("next_q_values, _ = next_q_values.max(dim=1)", "next_q_values = next_q_values.mean(dim=1)")
)


def _never(model: Any) -> None:
    model.learning_starts = 10**9


sb3_dqn_learning_never_starts = after_setup(DQN, _never)


class _RewardOfBefore(ReplayBuffer):
    late: Any = None

    def add(self, obs: Any, next_obs: Any, action: Any, reward: Any, done: Any, infos: Any) -> None:
        now, reward = reward, np.zeros_like(reward) if self.late is None else self.late
        self.late = np.array(now)
        super().add(obs, next_obs, action, reward, done, infos)


sb3_sac_reward_of_step_before = with_replay(SAC, _RewardOfBefore)
sb3_sac_critic_never_stepped = edit(SAC, "train", ("self.critic.optimizer.step()", "pass"))
sb3_sac_actor_takes_larger_twin = edit(
    SAC, "train", ("min_qf_pi, _ = th.min(q_values_pi", "min_qf_pi, _ = th.max(q_values_pi")
)
sb3_sac_entropy_sign_in_target = edit(
    SAC, "train", ("next_q_values = next_q_values - ent_coef", "next_q_values = next_q_values + ent_coef")
)


class _Twice(ReplayBuffer):
    """The observation is written where the next observation belongs."""

    def add(self, obs: Any, next_obs: Any, action: Any, reward: Any, done: Any, infos: Any) -> None:
        super().add(obs, obs, action, reward, done, infos)


sb3_dqn_next_observation_is_observation = with_replay(DQN, _Twice)


def _two_optimisers(model: Any) -> None:
    model.actor.optimizer.param_groups[0]["params"] = [torch.nn.Parameter(p.detach().clone())
                                                       for p in model.actor.parameters()]  # fmt: skip


sb3_sac_optimiser_of_copied_weights = after_setup(SAC, _two_optimisers)
