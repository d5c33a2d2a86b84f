"""How far target networks moved from row to row: what follows by small steps or copies must not stand still."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import torch
from torch import Tensor

METRIC = "critic/target_delta"


class TargetMoves:
    """Watches the weights of target networks; holds one copy of them, on their device.

    Args:
        weights: The weights of all target networks of the value function; none where it has no such networks.
    """

    def __init__(self, weights: Iterable[Tensor]) -> None:
        self._weights = list(weights)
        self._last = self._flat() if self._weights else None

    def take(self) -> dict[str, Tensor]:
        """Return how far they moved since the last call, over their norm []; nothing where there are none."""
        if self._last is None:
            return {}
        now = self._flat()
        moved, self._last = _norm(now - self._last), now
        return {METRIC: moved / _norm(now).clamp(min=1e-12)}

    def _flat(self) -> Tensor:
        return torch.cat([weight.detach().reshape(-1).float() for weight in self._weights])


def _norm(numbers: Tensor) -> Tensor:
    return cast(Any, torch.linalg).vector_norm(numbers)
