"""Later mutants of the reference PPO and MM-RKHS, by id with underscores; see later_mutants.toml."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import nn
from torch.optim import Adam

from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.small import MMRKHS_CONFIG, PPO_CONFIG

from .planting import built_otherwise, edited, small_function, train_function


def __getattr__(name: str) -> Any:
    if name.startswith("small_"):
        # The schedule is the bug of one of them, and the small settings have none.
        small = replace(PPO_CONFIG, anneal_lr="upside_down" in name)
        return small_function(name, globals(), MMRKHS_CONFIG if "mmrkhs" in name else small, 6144)
    return train_function(name, globals(), MMRKHSConfig if "mmrkhs" in name else PPOConfig)


# ---- the policy loss ------------------------------------------------------------------------------------------------

NORMALISED = 'self.normalised(minibatch["advantage"])'

ppo_clip_without_lower_bound = edited(
    PPO,
    loss=("ratio.clamp(1 - self.config.clip_range, 1 +", "ratio.clamp(max=1 +"),
)
ppo_advantage_without_sign = edited(PPO, loss=(NORMALISED, f"{NORMALISED}.abs()"))


def _softmax(trainer: Any) -> None:
    if trainer.discrete:
        trainer.actor.net = nn.Sequential(trainer.actor.net, nn.Softmax(-1))


ppo_softmax_before_categorical = built_otherwise(PPO, _softmax)


class _Bytes(nn.Module):
    def forward(self, obs: Any) -> Any:
        return obs / 255**2


def _divided_twice(trainer: Any) -> None:
    for network in (trainer.actor, trainer.critic):
        network.net = nn.Sequential(_Bytes(), network.net)


ppo_inputs_divided_by_255_twice = built_otherwise(PPO, _divided_twice)

# ---- advantages -----------------------------------------------------------------------------------------------------

ppo_next_value_of_this_state = edited(
    PPO, collect=('"next_value": self.critic(after["observation"])', '"next_value": self.critic(obs)')
)
ppo_lambda_not_used = edited(PPO, advantages=("self.config.gae_lambda,", "1.0,"))

# ---- data -----------------------------------------------------------------------------------------------------------

DRAWN = "action = policy.sample()"

ppo_one_action_for_all_copies = edited(
    PPO, collect=(DRAWN, "action = policy.sample()\n        action = action[:1].expand_as(action).clone()")
)
ppo_plays_the_action_before = edited(
    PPO,
    collect=[
        (DRAWN, f'{DRAWN}\n        played, self._before = getattr(self, "_before", action), action'),
        ("self.executed(action)", "self.executed(played)"),
    ],
)
FLAGS = '**{key: after[key].squeeze(-1) for key in ("reward", "terminated", "truncated")},'
ppo_reward_averaged_over_copies = edited(
    PPO, collect=(FLAGS, f'{FLAGS}\n            "reward": after["reward"].mean().expand(self.config.num_envs).clone(),')
)

# ---- optimisers -----------------------------------------------------------------------------------------------------

ppo_clips_gradient_of_a_copy = edited(
    PPO, step=("clip_grad_norm_(weights,", "clip_grad_norm_([w.detach().clone().requires_grad_() for w in weights],")
)
ppo_learning_rate_upside_down = edited(
    PPO, learn=("left = 1.0 - self.env_steps / total_steps", "left = self.env_steps / total_steps")
)


def _decays(trainer: Any) -> None:
    weights = [*trainer.actor.parameters(), *trainer.critic.parameters()]
    trainer.optimiser = Adam(weights, lr=trainer.config.learning_rate, eps=1e-5, weight_decay=1.0)


ppo_weight_decay_of_one = built_otherwise(PPO, _decays)
ppo_optimiser_made_anew = edited(
    PPO,
    step=(
        "self.optimiser.zero_grad()",
        "rate = self.optimiser.param_groups[0]['lr']\n"
        "    self.optimiser = Adam([*self.actor.parameters(), *self.critic.parameters()], lr=rate, eps=1e-5)\n"
        "    self.optimiser.zero_grad()",
    ),
)

# ---- MM-RKHS --------------------------------------------------------------------------------------------------------


def _ones(trainer: Any) -> None:
    if trainer.kernel is not None:
        trainer.kernel = torch.ones_like(trainer.kernel)


mmrkhs_kernel_of_ones = built_otherwise(MMRKHS, _ones)
mmrkhs_log_ratio_inverted = edited(
    MMRKHS,
    loss=(
        'log_ratio = self.log_prob(minibatch) - minibatch["log_prob"]',
        'log_ratio = minibatch["log_prob"] - self.log_prob(minibatch)',
    ),
)
mmrkhs_kl_summed_over_batch = edited(MMRKHS, loss=("kl_divergence(new, old).mean()", "kl_divergence(new, old).sum()"))
