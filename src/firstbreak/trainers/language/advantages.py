"""Advantages over the tokens of responses: generalised advantage estimation, whitening. Tables [B, L], masked."""

from __future__ import annotations

import torch
from torch import Tensor


def token_gae(reward: Tensor, value: Tensor, mask: Tensor, gamma: float, lam: float) -> tuple[Tensor, Tensor]:
    """Advantages and value targets [B, L] (Schulman et al. 2015, arXiv 1506.02438) of the tokens in `mask` [B, L].

    `value` at a token is that of the state in which it was chosen. The last token ends the episode, cut or not, as in
    RLHF there is no state after it. Other tokens are stepped over: what follows one is the next one in the mask.
    """
    advantage = torch.zeros_like(value)
    following, next_value = torch.zeros_like(value[:, 0]), torch.zeros_like(value[:, 0])
    for t in reversed(range(value.shape[1])):
        here = reward[:, t] + gamma * next_value - value[:, t] + gamma * lam * following
        following = torch.where(mask[:, t], here, following)
        next_value = torch.where(mask[:, t], value[:, t], next_value)
        advantage[:, t] = torch.where(mask[:, t], here, 0.0)
    return advantage, torch.where(mask, advantage + value, 0.0)


def whitened(values: Tensor, mask: Tensor, *, shift: bool = True) -> Tensor:
    """Values [B, L] with spread 1 over the mask, and mean 0 unless `shift` is False; 0 elsewhere.

    Without the shift signs are kept: that is for rewards (Huang et al. 2024, arXiv 2403.17031).
    """
    inside = values[mask]
    mean = inside.mean()
    scaled = (values - mean) * torch.rsqrt(inside.var(correction=0) + 1e-8)
    return torch.where(mask, scaled if shift else scaled + mean, 0.0)


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """Mean of the values [B, L] in the mask."""
    return torch.where(mask, values, 0.0).sum() / mask.sum().clamp(min=1)
