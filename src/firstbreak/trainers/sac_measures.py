"""What SAC logs about a sample of its replay buffer, under the canonical names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from .sac import SAC, Batch


@torch.no_grad()
def sample_measures(trainer: SAC, sample: Batch) -> dict[str, float]:
    """The twins, their error against a fresh target, and the policy, on one sample [B]."""
    first, second = (critic(sample["obs"], sample["action"]) for critic in trainer.critics)
    mean, log_std = trainer.actor(sample["obs"])
    near_bound = torch.tanh(mean + log_std.exp() * torch.randn_like(mean)).abs() > 0.98
    measures = {
        "critic/q_mean": first.mean(),
        "critic/q2_mean": second.mean(),
        "critic/q_max": torch.maximum(first, second).max(),
        "critic/q_min": torch.minimum(first, second).min(),
        "critic/twin_gap": (first - second).abs().mean(),
        "critic/td_error_mean": (first - trainer.td_target(sample)).abs().mean(),
        "policy/action_std": log_std.exp().mean(),
        "policy/logit_abs_max": mean.abs().max(),
        "policy/saturation_frac": near_bound.float().mean(),
        "reward/step_mean": sample["reward"].mean(),
    }
    return {name: float(value) for name, value in measures.items()}
