"""The settings of GRPO, under the names that TRL gives them, where it has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .losses import KlEstimator, LossType


@dataclass(frozen=True)
class GRPOConfig:
    """Settings of `GRPO`. [1] Shao et al. 2024, arXiv 2402.03300; [2] Yu et al. 2025 (DAPO), arXiv 2503.14476. Where
    no source is named: engineering default for a model of 60,000 weights.
    """

    prompts_per_update: int = 8
    """Prompts, and so groups, of one update."""
    num_generations: int = 8
    """Responses per prompt, the group."""
    num_iterations: int = 1
    """Passes over one batch, mu in [1]."""
    num_minibatches: int = 1
    """Optimiser steps per pass; whole groups are not kept together, the advantages are there already."""
    micro_batches: int = 1
    """Parts in which an optimiser step is computed (gradient accumulation)."""
    loss_type: LossType = "dapo"
    """How tokens are averaged and ratios are formed; see `losses`."""
    epsilon: float = 0.2
    """Clip range below, and above where `epsilon_high` is None [1]. GSPO wants about 3e-4."""
    epsilon_high: float | None = None
    """Clip range above; 0.28 is clip-higher [2]. CISPO's cap is 1 + this."""
    dual_clip: float | None = None
    """Bound c of the dual clip (Ye et al. 2020, arXiv 1912.09729, which takes 3); None for none."""
    beta: float = 0.0
    """Weight of the KL to the reference; 0.04 in [1], 0 in [2]."""
    kl_estimator: KlEstimator = "k3"
    """Of that KL [1]."""
    scale_rewards: Literal["group", "batch", "none"] = "group"
    """What advantages are divided by: a standard deviation [1] or nothing (Liu et al. 2025, arXiv 2503.20783)."""
    mask_truncated: bool = False
    """Leave responses without EOS out of the loss: overlong filtering [2, section 3.4]."""
    dynamic_sampling: bool = False
    """Draw new prompts until no group is without spread [2, section 3.2]."""
    max_batches: int = 4
    """Most batches that dynamic sampling generates for one update."""
    temperature: float = 1.0
    """Of sampling, and so of the policy that is trained."""
    top_p: float = 1.0
    """Nucleus mass of sampling. Below 1 the sampler is another policy than the one trained."""
    max_new_tokens: int = 10
    """Longest response."""
    learning_rate: float = 1e-3
    """Of Adam, constant."""
    max_grad_norm: float = 1.0
    """Largest norm of the gradient."""
    format_weight: float = 0.2
    """Weight of the reward for the form."""
    correct_weight: float = 0.8
    """Weight of the reward for the right answer."""
    pass_rate: float = 0.4
    """Share of problems solved when reinforcement learning begins."""
    eval_every: int = 10
    """Updates between evaluations on held-out problems; 0 for none."""
