"""Whether target networks compute what the networks that they follow compute: with the same weights, the same answers.

A target network is a copy whose weights lag behind (Mnih et al. 2015, doi:10.1038/nature14236; Lillicrap et al. 2016,
arXiv 1509.02971). Weights can be looked at; what a wrapper, a hook or a branch makes of them shows in answers alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import torch
from torch import Tensor, nn

METRIC = "critic/target_unlike_frac"
ROWS = 16
"""Rows on which both are asked. Engineering choice: what computes otherwise does so on most."""
ROUNDING = 1e-4
"""Distance over the size of answers that arithmetic in another order may leave in single precision."""


def unlike(pairs: Iterable[tuple[nn.Module, nn.Module, tuple[Any, ...]]]) -> dict[str, float]:
    """Return the largest distance of answers over their size; nothing where no pair can be compared.

    Networks that draw random numbers, or remember what they were asked, are left out. To be called `untouched`.

    Args:
        pairs: The network, its target, and what both are asked: tensors, or mappings of them, with rows first.
    """
    found = [_of(network, target, tuple(map(_few, given))) for network, target, given in pairs]
    known = [one for one in found if one is not None]
    return {METRIC: max(known)} if known else {}


@torch.no_grad()
def _of(network: nn.Module, target: nn.Module, given: tuple[Any, ...]) -> float | None:
    weights = {**dict(target.named_parameters()), **dict(target.named_buffers())}
    own = {**dict(network.named_parameters()), **dict(network.named_buffers())}
    if type(network) is not type(target) or _shapes(weights) != _shapes(own):
        return None

    def answers() -> tuple[Tensor, Tensor]:
        return _flat(target(*given)), _flat(torch.func.functional_call(network, weights, given))

    told, right = answers()
    if told.shape != right.shape:
        return None
    apart = float(_norm(told - right) / _norm(right).clamp_min(torch.finfo(torch.float32).tiny))
    if apart <= ROUNDING:
        return 0.0
    again = answers()
    return apart if torch.equal(told, again[0]) and torch.equal(right, again[1]) else None


def _shapes(tensors: dict[str, Tensor]) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in tensors.items()}


def _few(rows: Any) -> Any:
    if isinstance(rows, dict):
        return {name: column[:ROWS] for name, column in cast("dict[str, Any]", rows).items()}
    return rows[:ROWS]


def _flat(answer: Any) -> Tensor:
    """All numbers [N] of an answer: a tensor, or several."""
    parts = list(cast("tuple[Tensor, ...]", answer)) if isinstance(answer, tuple | list) else [answer]
    return torch.cat([part.reshape(-1).float() for part in parts])


def _norm(numbers: Tensor) -> Tensor:
    return cast(Any, torch.linalg).vector_norm(numbers)
