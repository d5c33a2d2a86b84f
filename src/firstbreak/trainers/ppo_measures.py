"""What PPO logs, under the canonical names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from tensordict import TensorDict
from torch import Tensor
from torch.distributions import Categorical

if TYPE_CHECKING:
    from .ppo import PPO


def rollout_measures(rollout: TensorDict) -> dict[str, float]:
    """Rewards, raw advantages and the critic before the update, over a rollout [N, T] that has its advantages."""
    raw, target = rollout["advantage"], rollout["value_target"]
    measures = {
        "reward/step_mean": float(rollout["reward"].mean()),
        "critic/value_mean": float(rollout["value"].mean()),
        "critic/target_mean": float(target.mean()),
        "advantage/mean": float(raw.mean()),
        "advantage/std": float(raw.std()),
        "advantage/abs_max": float(raw.abs().max()),
    }
    spread = float(target.var())
    if spread > 1e-8:  # the share of no variance is undefined, not 0
        measures["critic/explained_variance"] = 1.0 - float((target - rollout["value"]).var()) / spread
    return measures


@torch.no_grad()
def step_measures(trainer: PPO, minibatch: TensorDict) -> dict[str, Tensor]:
    """How far the policy is from the rollout's on one minibatch [B], before the step; KL by the k3 estimator."""
    policy = trainer.actor.distribution(minibatch["obs"])
    log_ratio = trainer.log_prob(minibatch) - minibatch["log_prob"]
    ratio = log_ratio.exp()
    measures = {
        "kl": (ratio - 1 - log_ratio).mean(),
        "kl_k1": -log_ratio.mean(),
        "clip_fraction": ((ratio - 1).abs() > trainer.config.clip_range).float().mean(),
        "ratio_mean": ratio.mean(),
        "ratio_max": ratio.max(),
        "ratio_min": ratio.min(),
        "ess": ratio.mean() ** 2 / (ratio**2).mean(),
        "entropy_nats": policy.entropy().mean(),
    }
    if not isinstance(policy, Categorical):
        measures["action_std"] = policy.stddev.mean()
    return measures
