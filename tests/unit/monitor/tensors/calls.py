"""Every function of `firstbreak.monitor.tensors` that takes a batch, called on inputs of any device and type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from firstbreak.monitor import tensors as t

Inputs = dict[str, Tensor]


@dataclass(frozen=True)
class Call:
    """A function with the shapes it needs: `rows` [B], `wide` [B, 3]; `mask` is [B]."""

    run: Callable[..., Mapping[str, Any]]
    rows: tuple[str, ...] = ()
    wide: tuple[str, ...] = ()

    def inputs(self, size: int, dtype: torch.dtype = torch.float32, device: str = "cpu", seed: int = 0) -> Inputs:
        made = torch.Generator().manual_seed(seed)
        shapes = dict.fromkeys(self.rows, (size,)) | dict.fromkeys(self.wide, (size, 3))
        values = {n: torch.randn(s, generator=made) for n, s in shapes.items()}
        values |= {n: x.exp() for n, x in values.items() if n.endswith("std")}
        return {n: x.to(dtype).to(device) if device == "cpu" else torch.empty_like(x, dtype=dtype, device=device)
                for n, x in values.items()}  # fmt: skip

    def __call__(self, inputs: Inputs, mask: Tensor | None = None) -> dict[str, Any]:
        return dict(self.run(**inputs) if mask is None else self.run(**inputs, mask=mask))


def _ratios(log_prob: Tensor, old: Tensor, gains: Tensor, mask: Tensor | None = None) -> Mapping[str, Any]:
    return t.importance_ratios(log_prob, old, clip_range=(0.2, 0.3), advantages=gains, mask=mask)


def _invalid(actions: Tensor, allowed: Tensor, logits: Tensor, mask: Tensor | None = None) -> Mapping[str, Any]:
    return t.invalid_actions(actions > 0, allowed > 0, logits, mask)


def _gaussian(std: Tensor, mask: Tensor | None = None) -> Mapping[str, Any]:
    return t.gaussian_spread(std, -1.0, 1.0, mask)


def _actions(actions: Tensor, mask: Tensor | None = None) -> Mapping[str, Any]:
    return t.action_statistics(actions, -1.0, 1.0, mask)


def _bound(q: Tensor, mask: Tensor | None = None) -> Mapping[str, Any]:
    return t.q_bound(q, 1.0, 0.5, mask=mask)


def _logits(logits: Tensor, mask: Tensor | None = None) -> Mapping[str, Any]:
    return t.logit_extremes(logits, None if mask is None else mask.unsqueeze(-1).expand_as(logits))


def _groups(rewards: Tensor, mask: Tensor | None = None) -> Mapping[str, Any]:
    return t.group_spread(rewards, 2, solved_at=0.5, mask=mask)


CALLS: dict[str, Call] = {
    "value_fit": Call(t.value_fit, ("values", "returns")),
    "q_against_returns": Call(t.q_against_returns, ("q", "returns")),
    "twin_q": Call(t.twin_q, ("first", "second")),
    "td_error": Call(t.td_error, ("q", "target")),
    "q_bound": Call(_bound, ("q",)),
    "advantages": Call(t.advantages, ("raw", "normalised")),
    "return_correlation": Call(t.return_correlation, ("raw", "target", "value")),
    "follow": Call(t.follow, ("used", "before", "now")),
    "importance_ratios": Call(_ratios, ("log_prob", "old", "gains")),
    "categorical_kl": Call(t.categorical_kl, (), ("old_logits", "new_logits")),
    "gaussian_kl": Call(t.gaussian_kl, (), ("old_mean", "old_std", "new_mean", "new_std")),
    "categorical_entropy": Call(t.categorical_entropy, (), ("logits",)),
    "gaussian_spread": Call(_gaussian, (), ("std",)),
    "logit_extremes": Call(_logits, (), ("logits",)),
    "action_statistics": Call(_actions, (), ("actions",)),
    "invalid_actions": Call(_invalid, ("actions",), ("allowed", "logits")),
    "group_spread": Call(_groups, ("rewards",)),
}


def numbers(measures: Mapping[str, Any]) -> dict[str, float]:
    """The values, by the slow way: one transfer each."""
    return {name: float(value) for name, value in measures.items()}
