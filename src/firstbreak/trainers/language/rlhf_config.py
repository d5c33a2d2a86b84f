"""The settings of RLHF-PPO, under the names that TRL gives them, where it has them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RLHFPPOConfig:
    """Settings of `RLHFPPO`. [1] Huang et al. 2024, arXiv 2403.17031. Where no source is named: engineering default for
    a model of 60,000 weights.
    """

    prompts_per_update: int = 64
    """Prompts of one update, one response each."""
    num_ppo_epochs: int = 2
    """Passes over one batch; 4 in [1]."""
    num_mini_batches: int = 2
    """Optimiser steps per pass."""
    kl_coef: float = 0.3
    """What one nat of KL to the reference costs; 0.05 in [1], with which a policy of this size learns to please its
    small reward model and unlearns the task, in every seed that was tried."""
    gamma: float = 1.0
    """The discount [1]."""
    lam: float = 0.95
    """Lambda of generalised advantage estimation [1]."""
    cliprange: float = 0.2
    """Epsilon of the policy [1]."""
    cliprange_value: float = 0.2
    """How far a value may move in one update before its error is clipped [1]; rewards have spread 1."""
    vf_coef: float = 0.1
    """Weight of the value loss [1]."""
    whiten_rewards: bool = False
    """Scale the rewards of tokens, without shifting them [1]."""
    whiten_advantages: bool = True
    """Over the valid tokens of the batch [1]."""
    missing_eos_penalty: float = 1.0
    """Taken off the score of a response without EOS [1, the EOS trick]."""
    temperature: float = 1.0
    """Of sampling."""
    max_new_tokens: int = 10
    """Longest response."""
    learning_rate: float = 1e-3
    """Of Adam, constant, eps 1e-5 [1]."""
    max_grad_norm: float = 1.0
    """Largest norm of the gradient over all weights."""
    pass_rate: float = 0.4
    """Share of problems solved when reinforcement learning begins."""
    eval_every: int = 10
    """Updates between evaluations on held-out problems; 0 for none."""
