"""What PPO logs, under the canonical names."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import torch
from tensordict import TensorDict
from torch import Tensor
from torch.distributions import Categorical

if TYPE_CHECKING:
    from .ppo import PPO, Batch


def rollout_measures(rollout: TensorDict) -> dict[str, float]:
    """Rewards, raw advantages and the critic before the update, over a rollout [N, T] that has its advantages."""
    rows = cast("Batch", rollout)
    raw, target, value = rows["advantage"], rows["value_target"], rows["value"]
    measures = {
        "reward/step_mean": rows["reward"].mean(),
        "reward/step_max": rows["reward"].max(),
        "critic/value_mean": value.mean(),
        "critic/target_mean": target.mean(),
        "critic/target_max": target.max(),
        "critic/target_min": target.min(),
        "return/mean": target.mean(),
        "return/std": target.std(correction=0),
        "advantage/mean": raw.mean(),
        "advantage/std": raw.std(correction=0),
        "advantage/min": raw.min(),
        "advantage/max": raw.max(),
        "advantage/abs_mean": raw.abs().mean(),
        "advantage/abs_max": raw.abs().max(),
    }
    spread = target.var(correction=0)
    if float(spread) > 1e-8:  # the share of no variance is undefined, not 0
        measures["critic/explained_variance"] = 1.0 - (target - value).var(correction=0) / spread
        if float(raw.std(correction=0)) > 1e-8 and float((target - value).std(correction=0)) > 1e-8:
            both = torch.stack((raw.flatten(), (target - value).flatten()))
            measures["advantage/return_corr"] = torch.corrcoef(both)[0, 1]
    return numbers(measures)


def advantage_residual(rollout: TensorDict, gamma: float, gae_lambda: float) -> dict[str, float]:
    """How far the advantages of a rollout [N, T] are from what its rewards and values make of them.

    A_t = r_t + gamma V(s_t+1) - V_t + gamma lambda A_t+1 (Schulman et al. 2016, arXiv 1506.02438, equation 16), without
    the last step; the root mean square of the difference over that of the advantages, and a thousandth of the values'
    (the advantages of a perfect critic are rounding).
    """
    rows = cast("Batch", rollout)
    raw, done = rows["advantage"], rows["terminated"] | rows["truncated"]
    follows = gamma * rows["next_value"] * ~rows["terminated"]
    carried = gamma * gae_lambda * ~done[:, :-1] * raw[:, 1:]
    missing = (rows["reward"] + follows - rows["value"] - raw)[:, :-1] + carried
    size = raw.square().mean().sqrt() + 1e-3 * rows["value"].square().mean().sqrt()
    if missing.numel() == 0 or float(size) == 0:
        return {}
    return numbers({"advantage/gae_residual": missing.square().mean().sqrt() / size})


def advantage_follow(used: Tensor, change: Tensor) -> dict[str, Tensor]:
    """Cosine of the advantages that the loss uses with the change of log-probability that an update brought.

    What a policy gradient raises is, to first order, the sum of both multiplied. Nothing where either is 0 throughout.
    """
    size = used.square().sum().sqrt() * change.square().sum().sqrt()
    return {} if float(size) < 1e-8 else {"policy/advantage_follow": (used * change).sum() / size}


@torch.no_grad()
def step_measures(trainer: PPO, minibatch: Batch) -> dict[str, float]:
    """How far the policy is from the rollout's on one minibatch [B], before the step; KL by the k3 estimator."""
    log_ratio = trainer.log_prob(minibatch) - minibatch["log_prob"]
    ratio = log_ratio.exp()
    low, high = ratio < 1 - trainer.config.clip_range, ratio > 1 + trainer.config.clip_range
    measures = {
        "kl": (ratio - 1 - log_ratio).mean(),
        "ratio_mean": ratio.mean(),
        "clip_fraction": (low | high).float().mean(),
        "clip_fraction_low": low.float().mean(),
        "clip_fraction_high": high.float().mean(),
    }
    return numbers(measures)


@torch.no_grad()
def policy_measures(trainer: PPO, rollout: Batch) -> dict[str, float]:
    """How far the update has moved the policy and the critic, over all rows of the rollout [N, T]."""
    policy = trainer.actor.distribution(rollout["obs"])
    log_prob = trainer.log_prob(rollout)
    log_ratio = log_prob - rollout["log_prob"]
    ratio = log_ratio.exp()
    measures = {
        "policy/kl_old": (ratio - 1 - log_ratio).mean(),  # k3, http://joschu.net/blog/kl-approx.html
        "policy/kl_k1": -log_ratio.mean(),
        "policy/ratio_mean": ratio.mean(),
        "policy/ratio_max": ratio.max(),
        "policy/ratio_min": ratio.min(),
        "policy/ratio_var": ratio.var(correction=0),
        "policy/ess": ratio.mean() ** 2 / (ratio**2).mean(),
        "policy/entropy": policy.entropy().mean(),
        "policy/logprob_mean": log_prob.mean(),
        "critic/value_delta": (trainer.critic(rollout["obs"]) - rollout["value"]).mean(),
        **advantage_follow(trainer.normalised(rollout["advantage"]), log_ratio),
    }
    if not isinstance(policy, Categorical):
        spread: Tensor = policy.stddev
        measures["policy/action_std"] = spread.mean()
        measures["policy/action_std_min"], measures["policy/action_std_max"] = spread.min(), spread.max()
    return numbers(measures)


def numbers(measures: dict[str, Tensor]) -> dict[str, float]:
    """Turn tensors of one number into numbers."""
    return {name: float(value) for name, value in measures.items()}
