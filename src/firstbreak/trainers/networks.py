"""Networks of the reference trainers: orthogonal first weights, tanh in actors and values (Huang et al. 2022, details
2 and 12 of "The 37 implementation details of PPO"), and plain tensors in and out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributions import Categorical, Independent, Normal


def mlp(
    inputs: int,
    outputs: int,
    hidden: Sequence[int],
    activation: Callable[[], nn.Module] = nn.ReLU,
    last_gain: float = 1.0,
) -> nn.Sequential:
    """Return a multi-layer perceptron [B, inputs] -> [B, outputs] with orthogonal weights and zero biases."""
    sizes = [inputs, *hidden]
    layers: list[nn.Module] = []
    for a, b in pairwise(sizes):
        layers += [orthogonal(nn.Linear(a, b), 2**0.5), activation()]
    return nn.Sequential(*layers, orthogonal(nn.Linear(sizes[-1], outputs), last_gain))


def orthogonal(layer: nn.Linear, gain: float) -> nn.Linear:
    """Give `layer` orthogonal weights of this gain, and no bias."""
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class CategoricalActor(nn.Module):
    """A policy over n discrete actions, close to uniform at first."""

    def __init__(self, inputs: int, n: int, hidden: Sequence[int]) -> None:
        super().__init__()
        self.net = mlp(inputs, n, hidden, nn.Tanh, last_gain=0.01)

    def distribution(self, obs: Tensor) -> Categorical:
        """obs [B, D] -> a distribution over actions [B]."""
        return Categorical(logits=self.net(obs), validate_args=False)


class GaussianActor(nn.Module):
    """A Gaussian policy with a spread that does not depend on the state, in units of half the action range.

    A dimension without bounds has middle 0 and unit 1.
    """

    def __init__(self, inputs: int, low: Tensor, high: Tensor, hidden: Sequence[int]) -> None:
        super().__init__()
        self.net = mlp(inputs, low.numel(), hidden, nn.Tanh, last_gain=0.01)
        self.log_std = nn.Parameter(torch.zeros(low.numel()))
        bounded = low.isfinite() & high.isfinite()
        self.middle: Tensor
        self.half_range: Tensor
        self.register_buffer("middle", torch.where(bounded, (low + high) / 2, 0.0))
        self.register_buffer("half_range", torch.where(bounded, (high - low) / 2, 1.0))

    def distribution(self, obs: Tensor) -> Any:
        """obs [B, D] -> a distribution over actions [B, A]; draws may lie outside the bounds."""
        mean = self.middle + self.half_range * self.net(obs)
        std = (self.half_range * self.log_std.exp()).expand_as(mean)
        return Independent(Normal(mean, std, validate_args=False), 1, validate_args=False)


class ValueNetwork(nn.Module):
    """V(obs): [B, D] -> [B]."""

    def __init__(self, inputs: int, hidden: Sequence[int]) -> None:
        super().__init__()
        self.net = mlp(inputs, 1, hidden, nn.Tanh)

    def forward(self, obs: Tensor) -> Tensor:
        """Return the value of each observation [B]."""
        return self.net(obs).squeeze(-1)


class QNetwork(nn.Module):
    """Q(obs, action) of a continuous action: [B, D], [B, A] -> [B]."""

    def __init__(self, inputs: int, actions: int, hidden: Sequence[int]) -> None:
        super().__init__()
        self.net = mlp(inputs + actions, 1, hidden)

    def forward(self, obs: Tensor, action: Tensor) -> Tensor:
        """Return the value of each pair [B]."""
        return self.net(torch.cat([obs, action], -1)).squeeze(-1)


class DiscreteQNetwork(nn.Module):
    """Q(obs, .) of n discrete actions: [B, D] -> [B, n].

    Its first weights are PyTorch's own (He et al. 2015 with a smaller gain), as in CleanRL and Stable-Baselines3: with
    orthogonal ones the first values are so large that DQN did not learn CartPole in 50,000 steps.
    """

    def __init__(self, inputs: int, n: int, hidden: Sequence[int]) -> None:
        super().__init__()
        layers = [part for a, b in pairwise([inputs, *hidden]) for part in (nn.Linear(a, b), nn.ReLU())]
        self.net = nn.Sequential(*layers, nn.Linear([inputs, *hidden][-1], n))

    def forward(self, obs: Tensor) -> Tensor:
        """Return the value of every action [B, n]."""
        return self.net(obs)
