"""The policy of SAC: a diagonal Gaussian, squashed by tanh and stretched to the action bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from .networks import mlp

LOG_STD_RANGE = (-5.0, 2.0)
"""Bounds of the log standard deviation before tanh (CleanRL's; Spinning Up has (-20, 2))."""

INNERMOST = 1.0 - 1e-6
"""Largest |tanh| that is inverted: at float32 the next value is 1, whose inverse is infinite."""


class SquashedGaussian(nn.Module):
    """obs [B, O] -> mean and log std [B, D] before tanh. Log-probabilities are densities over the *executed* action.

    They carry the correction for tanh and for the stretch, so exp(log_prob) integrates to 1 over the action box
    (Haarnoja et al. 2018, arXiv 1812.05905, appendix C).
    """

    centre: Tensor
    half_range: Tensor
    log_density_offset: Tensor

    def __init__(self, obs_dim: int, low: Tensor, high: Tensor, hidden_sizes: Sequence[int]) -> None:
        super().__init__()
        # A small last layer: every state starts at the centre of the box, far from where tanh is flat.
        self.net = mlp(obs_dim, 2 * low.numel(), hidden_sizes, last_gain=0.01)
        self.register_buffer("centre", (high + low).flatten() / 2.0)
        self.register_buffer("half_range", (high - low).flatten() / 2.0)
        constant = 0.5 * math.log(2.0 * math.pi) + 2.0 * math.log(2.0)
        self.register_buffer("log_density_offset", -(self.half_range.log() + constant).sum())

    def forward(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log std [B, D] before tanh; tanh keeps the log std smoothly within `LOG_STD_RANGE`."""
        mean, raw = cast(Tensor, self.net(obs)).chunk(2, dim=-1)
        lowest, highest = LOG_STD_RANGE
        return mean, lowest + 0.5 * (highest - lowest) * (torch.tanh(raw) + 1.0)

    def sample(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """A reparameterised action [B, D] within the bounds and its log-probability [B]."""
        mean, log_std = self(obs)
        noise = torch.randn_like(mean)
        before_tanh = mean + log_std.exp() * noise
        return self._stretched(torch.tanh(before_tanh)), self._log_density(before_tanh, noise, log_std)

    def mode(self, obs: Tensor) -> Tensor:
        """The deterministic action [B, D]: the squashed mean."""
        return self._stretched(torch.tanh(self(obs)[0]))

    def log_prob(self, obs: Tensor, action: Tensor) -> Tensor:
        """Log-probability [B] of a given executed `action` [B, D]; finite on the bounds too."""
        mean, log_std = self(obs)
        before_tanh = torch.atanh(((action - self.centre) / self.half_range).clamp(-INNERMOST, INNERMOST))
        return self._log_density(before_tanh, (before_tanh - mean) * (-log_std).exp(), log_std)

    def _stretched(self, squashed: Tensor) -> Tensor:
        return self.centre + self.half_range * squashed

    def _log_density(self, before_tanh: Tensor, noise: Tensor, log_std: Tensor) -> Tensor:
        """log N(noise) - log std - log|d action / d before_tanh|, summed over dimensions.

        log(1 - tanh(u)^2) is written 2 (log 2 - u - softplus(-2u)), exact also where 1 - tanh(u)^2 rounds to 0.
        """
        moving = 2.0 * (before_tanh + softplus(-2.0 * before_tanh)) - log_std - 0.5 * noise**2
        return moving.sum(-1) + self.log_density_offset
