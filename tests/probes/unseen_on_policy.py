"""Unseen mutants of the reference PPO and MM-RKHS, by id with underscores; see unseen_mutants.toml."""

from __future__ import annotations

from typing import Any

import torch
from torch.optim import Adam

from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.small import MMRKHS_CONFIG, PPO_CONFIG

from .planting import built_otherwise, edited, small_function, train_function


def __getattr__(name: str) -> Any:
    if name.startswith("small_"):
        return small_function(name, globals(), MMRKHS_CONFIG if "mmrkhs" in name else PPO_CONFIG, 6144)
    return train_function(name, globals(), MMRKHSConfig if "mmrkhs" in name else PPOConfig)


# ---- the policy loss ------------------------------------------------------------------------------------------------

NORMALISED = 'self.normalised(minibatch["advantage"])'
ENTROPY = 'self.actor.distribution(minibatch["obs"]).entropy()'
TARGET = 'mse_loss(self.critic(minibatch["obs"]), minibatch["value_target"])'

ppo_advantage_from_live_critic = edited(
    PPO, loss=(NORMALISED, 'self.normalised(minibatch["value_target"] - self.critic(minibatch["obs"]))')
)
ppo_entropy_without_gradient = edited(PPO, loss=(ENTROPY, f"{ENTROPY}.detach()"))
ppo_ratio_not_exponentiated = edited(PPO, loss=('minibatch["log_prob"]).exp()', 'minibatch["log_prob"])'))
ppo_log_ratio_clipped_as_ratio = edited(
    PPO,
    loss=(
        "ratio.clamp(1 - self.config.clip_range, 1 + self.config.clip_range)",
        "ratio.log().clamp(-self.config.clip_range, self.config.clip_range)",
    ),
)


class ppo_advantage_normalised_over_axis_of_one(PPO):  # noqa: N801
    """A batch axis of length 1 in front, and the mean taken over it: all zero."""

    def normalised(self, advantage: Any) -> Any:
        rows = advantage.unsqueeze(0)
        return ((rows - rows.mean(0, keepdim=True)) / (rows.std(0, unbiased=False, keepdim=True) + 1e-8)).squeeze(0)


# ---- the value loss -------------------------------------------------------------------------------------------------

ppo_value_target_follows_critic = edited(
    PPO,
    loss=[
        (TARGET, 'mse_loss(value, minibatch["advantage"] + value.detach())'),
        ("    error = ", '    value = self.critic(minibatch["obs"])\n    error = '),
    ],
)
ppo_value_target_standardised = edited(
    PPO,
    loss=[
        (TARGET, 'mse_loss(self.critic(minibatch["obs"]), target)'),
        (
            "    error = ",
            '    target = minibatch["value_target"]\n'
            "    target = (target - target.mean()) / (target.std() + 1e-8)\n    error = ",
        ),
    ],
)

# ---- advantages -----------------------------------------------------------------------------------------------------

ppo_value_target_is_old_value = edited(
    PPO, advantages=('"value_target": target.squeeze(-1)', '"value_target": rollout["value"]')
)
ppo_value_not_subtracted_at_end = edited(
    PPO,
    advantages=(
        '{"advantage": advantage.squeeze(-1),',
        '{"advantage": advantage.squeeze(-1) + rollout["value"] * rollout["terminated"],',
    ),
)
ppo_trace_never_cut = edited(PPO, advantages=('"done": done', '"done": torch.zeros_like(done)'))

# ---- data -----------------------------------------------------------------------------------------------------------


class ppo_rows_drawn_with_replacement(PPO):  # noqa: N801
    """Some rows twice in an epoch, a third of them never."""

    def minibatches(self, rollout: Any) -> Any:
        flat = rollout.reshape(-1)
        size = -(-len(flat) // self.config.num_minibatches)
        for _ in range(self.config.num_minibatches):
            yield flat[torch.randint(len(flat), (size,))]


class ppo_first_minibatch_only(PPO):  # noqa: N801
    """`order[:size]` in each turn of the loop."""

    def minibatches(self, rollout: Any) -> Any:
        first = None
        for rows in super().minibatches(rollout):
            first = rows if first is None else first
            yield first


ppo_next_observation_stored = edited(PPO, collect=('"obs": obs,', '"obs": after["observation"],'))


class ppo_observation_buffer_aliased(PPO):  # noqa: N801
    """All rows of a rollout hold one array, which the last step wrote."""

    def collect(self) -> Any:
        rollout = super().collect()
        rollout["obs"] = rollout["obs"][:, -1:].expand_as(rollout["obs"]).clone()
        return rollout


class ppo_value_of_other_environment(PPO):  # noqa: N801
    """The column of values is one environment off."""

    def collect(self) -> Any:
        rollout = super().collect()
        rollout["value"] = torch.roll(rollout["value"], 1, dims=0)
        return rollout


class ppo_deterministic_flag_inverted(PPO):  # noqa: N801
    """`act(deterministic=True)` draws, `act()` does not."""

    def act(self, obs: Any, deterministic: bool = False) -> Any:
        return super().act(obs, not deterministic)


# ---- optimisers -----------------------------------------------------------------------------------------------------


def _large_epsilon(trainer: Any) -> None:
    weights = [*trainer.actor.parameters(), *trainer.critic.parameters()]
    trainer.optimiser = Adam(weights, lr=trainer.config.learning_rate, eps=100.0)


ppo_adam_epsilon_large = built_otherwise(PPO, _large_epsilon)


def _rebuilt_actor(trainer: Any) -> None:
    trainer._build_networks()


ppo_networks_rebuilt_after_optimiser = built_otherwise(PPO, _rebuilt_actor)

# ---- MM-RKHS --------------------------------------------------------------------------------------------------------

mmrkhs_reference_never_refreshed = edited(
    MMRKHS, collect=("self.old_actor.load_state_dict(self.actor.state_dict())", "pass")
)
mmrkhs_mmd_weight_zero = edited(MMRKHS, loss=("self.beta * self.mmd", "0.0 * self.mmd"))
mmrkhs_kl_other_way_round = edited(MMRKHS, loss=("kl_divergence(new, old)", "kl_divergence(old, new)"))
mmrkhs_log_ratio_not_clipped = edited(MMRKHS, loss=("self.config.exponent_clip)", "1e9)"))
mmrkhs_advantage_of_next_row = edited(MMRKHS, loss=('minibatch["advantage"],', 'minibatch["advantage"].roll(-1),'))
