"""The policy in a TorchRL loss: with its weights in it, and where its log-probabilities of single actions are exact."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.distributions import TransformedDistribution

INSIDE = 0.95
"""Squashed actions, as a share of their range, whose log-probabilities are compared: near the bounds the number before
squashing is not known well from the action, and TorchRL scores a draw by that number. Engineering choice."""


def holding_weights(loss: Any, name: str) -> Any:
    """Return a context in which the functional network `name` holds its weights."""
    weights = getattr(loss, f"{name}_params", None)
    return nullcontext() if weights is None else weights.to_module(getattr(loss, name))


def squashed(policy: Any) -> bool:
    """Return whether actions were squashed after they were drawn."""
    return isinstance(policy, TransformedDistribution)


def inside(policy: Any, action: Tensor) -> Tensor:
    """Return which actions [N, A] are well within the bounds of a squashed policy [N]; all of another."""
    low, high = getattr(policy, "low", None), getattr(policy, "high", None)
    if not squashed(policy) or low is None or high is None:
        return torch.ones(len(action), dtype=torch.bool, device=action.device)
    middle = (action - low) / (high - low) * 2 - 1
    return (middle.abs() < INSIDE).reshape(len(action), -1).all(1)
