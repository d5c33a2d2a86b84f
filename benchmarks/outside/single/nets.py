"""The networks of single-file scripts, and running moments of observations."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical, Distribution, Independent, Normal


def layer(inputs: int, outputs: int, gain: float = 2**0.5) -> nn.Linear:
    made = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(made.weight, gain)
    nn.init.zeros_(made.bias)
    return made


def body(inputs: int, hidden: int, outputs: int, gain: float) -> nn.Sequential:
    return nn.Sequential(
        layer(inputs, hidden), nn.Tanh(), layer(hidden, hidden), nn.Tanh(), layer(hidden, outputs, gain)
    )


class Agent(nn.Module):
    """Two bodies, and for continuous actions one spread a dimension."""

    def __init__(self, inputs: int, actions: int, hidden: int, continuous: bool) -> None:
        super().__init__()
        self.actor, self.critic = body(inputs, hidden, actions, 0.01), body(inputs, hidden, 1, 1.0)
        self.logstd = nn.Parameter(torch.zeros(actions)) if continuous else None

    def policy(self, obs: torch.Tensor) -> Distribution:
        out = self.actor(obs)
        if self.logstd is None:
            return Categorical(logits=out)
        return Independent(Normal(out, self.logstd.exp().expand_as(out)), 1)

    def value(self, obs: torch.Tensor) -> torch.Tensor:
        return self.critic(obs).squeeze(-1)


class Moments:
    """Running mean and variance of observations."""

    def __init__(self, width: int) -> None:
        self.mean, self.var, self.count = np.zeros(width), np.ones(width), 1e-4

    def see(self, rows: np.ndarray) -> None:
        mean, var, n = rows.mean(0), rows.var(0), len(rows)
        gap, total = mean - self.mean, self.count + n
        self.var = (self.var * self.count + var * n + gap**2 * self.count * n / total) / total
        self.mean, self.count = self.mean + gap * n / total, total

    def of(self, rows: np.ndarray) -> np.ndarray:
        return np.clip((rows - self.mean) / np.sqrt(self.var + 1e-8), -10, 10)


def mlp(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    """Return the body that scripts with a buffer use."""
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, outputs)
    )
