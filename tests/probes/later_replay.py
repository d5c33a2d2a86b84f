"""Later mutants of the reference DQN and SAC, by id with underscores; see later_mutants.toml."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.functional import mse_loss

from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.sac import SAC, SACConfig
from firstbreak.trainers.small import DQN_CONFIG, SAC_CONFIG
from firstbreak.trainers.squashed_gaussian import SquashedGaussian

from .planting import built_otherwise, edited, small_function, train_function


def __getattr__(name: str) -> Any:
    if name.startswith("small_"):
        given = (SAC_CONFIG, 1500) if "sac_" in name else (DQN_CONFIG, 3000)
        return small_function(name, globals(), *given)
    return train_function(name, globals(), SACConfig if "sac_" in name else DQNConfig)


# ---- DQN ------------------------------------------------------------------------------------------------------------

dqn_reward_discounted_too = edited(
    DQN,
    td_target=(
        'return sample["reward"] + self.gamma * (~sample["terminated"]) * best',
        'return self.gamma * (sample["reward"] + (~sample["terminated"]) * best)',
    ),
)


def _rectified(trainer: Any) -> None:
    for network in (trainer.q_network, trainer.target_network):
        network.net = nn.Sequential(network.net, nn.ReLU())


dqn_values_behind_relu = built_otherwise(DQN, _rectified)
dqn_observations_kept_as_whole_numbers = edited(
    DQN,
    collect=[
        ('"obs": obs,', '"obs": obs.to(torch.int8).float(),'),
        ('"next_obs": after["observation"],', '"next_obs": after["observation"].to(torch.int8).float(),'),
    ],
)
CLIP = "norm = clip_grad_norm_(self.q_network.parameters(), self.config.max_grad_norm)"
dqn_clips_before_backward = edited(DQN, step=[(CLIP, "pass"), ("loss.backward()", f"{CLIP}\n    loss.backward()")])


class dqn_batch_of_one_row(DQN):  # noqa: N801
    """Every row of a batch is the same transition."""

    def sample(self) -> Any:
        rows: Any = super().sample()
        return rows[torch.zeros(len(rows), dtype=torch.int64)]


# ---- SAC ------------------------------------------------------------------------------------------------------------


class sac_loss_of_the_smaller_twin(SAC):  # noqa: N801
    """One squared error, of the smaller of the twins' values, in the place of one for each."""

    def critic_loss(self, sample: Any, target: Any = None) -> Any:
        target = self.td_target(sample) if target is None else target
        first, second = (critic(sample["obs"], sample["action"]) for critic in self.critics)
        return mse_loss(torch.minimum(first, second), target)


class sac_targets_follow_one_twin(SAC):  # noqa: N801
    """Both target critics go after the first online critic."""

    @torch.no_grad()
    def sync_target(self) -> None:
        first = list(self.critics[0].parameters())
        for target, online in zip(self.weights_of_targets, [*first, *first], strict=True):
            target.lerp_(online, self.config.tau)


class _Shut(SquashedGaussian):
    """The bounds of the clamp are exchanged, so that the log std is never above -5."""

    def forward(self, obs: Any) -> Any:
        mean, log_std = super().forward(obs)
        return mean, log_std.clamp(2.0, -5.0)


def _shut(trainer: Any) -> None:
    trainer.actor.__class__ = _Shut


sac_spread_clamped_shut = built_otherwise(SAC, _shut)
sac_ends_never_stored = edited(
    SAC,
    collect=(
        '"terminated": after["terminated"].squeeze(-1),',
        '"terminated": torch.zeros(len(obs), dtype=torch.bool),',
    ),
)


class sac_answers_clipped_to_one(SAC):  # noqa: N801
    """act() cuts actions to [-1, 1], whatever the bounds of the environment are."""

    def act(self, obs: Any, deterministic: bool = False) -> Any:
        return super().act(obs, deterministic).clip(-1, 1)
