"""What MM-RKHS logs about one update, under the canonical names; each figure is taken once a rollout."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor
from torch.distributions import Categorical, kl_divergence

from .ppo_measures import advantage_follow

if TYPE_CHECKING:
    from .mmrkhs import MMRKHS, Batch


@torch.no_grad()
def mean_ratio(trainer: MMRKHS, rows: Batch) -> float:
    """Mean importance ratio of rows [B]; 1 before the first inner step."""
    return float((trainer.log_prob(rows) - rows["log_prob"]).exp().mean())


@torch.no_grad()
def policy_measures(trainer: MMRKHS, rows: Batch) -> dict[str, float]:
    """How far the actor has moved from pi_k over all rows [B] of the rollout, after the update."""
    old, new = trainer.old_actor.distribution(rows["obs"]), trainer.actor.distribution(rows["obs"])
    log_ratio = trainer.log_prob(rows) - rows["log_prob"]
    ratio = log_ratio.exp()
    measures = {
        "policy/kl_old": kl_divergence(old, new).mean(),
        "policy/kl_k1": -log_ratio.mean(),
        "policy/mmd": trainer.mmd(old, new).mean(),
        "policy/exponent_clip_fraction": (log_ratio.abs() > trainer.config.exponent_clip).float().mean(),
        "policy/ratio_mean": ratio.mean(),
        "policy/ratio_max": ratio.max(),
        "policy/ratio_min": ratio.min(),
        "policy/ess": ratio.mean() ** 2 / (ratio**2).mean(),
        "policy/entropy": new.entropy().mean(),
        "policy/logprob_mean": trainer.log_prob(rows).mean(),
        **advantage_follow(rows["advantage"], log_ratio),
    }
    if not isinstance(new, Categorical):
        measures["policy/action_std"] = new.stddev.mean()
    return {name: float(value) for name, value in measures.items()}


def step_measures(trainer: MMRKHS, mean: dict[str, float]) -> dict[str, float]:
    """The means over the inner steps under their canonical names, the weights the terms had, and the clocks."""
    return {
        "policy/loss": mean["policy"],
        "policy/loss_total": mean["policy"] + mean["mmd"] + mean["kl"],
        "critic/loss": mean["value"] / trainer.config.value_coef,
        "policy/mmd_coef": trainer.beta,
        "policy/kl_inv_eta": 1.0 / trainer.eta,
        "optim/actor_grad_norm": mean["actor_grad_norm"],
        "optim/critic_grad_norm": mean["critic_grad_norm"],
        "optim/lr": trainer.config.actor_lr,
        "optim/critic_lr": trainer.config.critic_lr,
        "optim/n_updates": float(trainer.gradient_steps),
        "time/env_steps": float(trainer.env_steps),
    }


def mmd_gradient_ratio(trainer: MMRKHS, rows: Batch) -> float:
    """Norm of the MMD term's gradient over that of the surrogate, on the actor; 0 means that beta has no effect."""
    terms = trainer.loss(rows)
    weights = [weight for weight in trainer.actor.parameters() if weight.requires_grad]
    mmd, policy = (_gradient_norm(terms[name], weights) for name in ("mmd", "policy"))
    return mmd / policy if policy > 0 else float("inf")


def _gradient_norm(term: Tensor, weights: list[Tensor]) -> float:
    if not term.requires_grad:
        return 0.0
    gradients = torch.autograd.grad(term, weights, retain_graph=True, allow_unused=True)
    squares = [float((gradient**2).sum()) for gradient in gradients if cast(Any, gradient) is not None]
    return math.sqrt(sum(squares))
