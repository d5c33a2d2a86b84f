"""What the fourth list does to networks and optimisers."""

from __future__ import annotations

import torch
from torch import nn

DEAD = -10.0
"""Bias that no observation of these tasks lifts above zero."""
STEEP = 4.0
"""Spread of the weights of `sigmoid-badly-begun`: most units are at an end of their range."""


def kill_units(net: nn.Module) -> None:
    """Set the biases of the first hidden layer so low that its rectifiers are shut."""
    first = next(module for module in net.modules() if isinstance(module, nn.Linear))
    with torch.no_grad():
        first.bias.fill_(DEAD)


def with_sigmoids(net: nn.Sequential) -> nn.Sequential:
    """Return the network with sigmoids for rectifiers, and wide weights in its hidden layers."""
    layers = [nn.Sigmoid() if isinstance(layer, nn.ReLU) else layer for layer in net]
    with torch.no_grad():
        for layer in [layer for layer in layers if isinstance(layer, nn.Linear)][:-1]:
            layer.weight.normal_(0.0, STEEP)
    return nn.Sequential(*layers)
