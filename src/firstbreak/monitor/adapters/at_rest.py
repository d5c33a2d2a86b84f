"""Between two updates nobody should touch the weights: were they left alone?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, cast

import torch
from torch import Tensor

METRIC = "optim/outside_change_frac"


class AtRest:
    """Compares the weights of optimisers as an update left them with what the first step after it finds.

    Only the norm of each tensor is kept: two short reductions an update, no copy, no transfer before `take`. What
    changes no norm (two entries that change places) is not seen.

    Args:
        optimisers: Their hook is public: `register_step_pre_hook`.
        moved: On a processor, told at once by how much the weights were moved, before the step is taken; until the next
            `take` only of what is twice as much again, as something may move them at every step. On a graphics card
            reading the number would make the step wait, so that only `take` says it.
    """

    def __init__(
        self, optimisers: Iterable[torch.optim.Optimizer], moved: Callable[[float], None] | None = None
    ) -> None:
        self._optimisers, self._moved = tuple(optimisers), moved
        self._kept: Tensor | None = None
        self._largest: Tensor | None = None
        self._told = 0.0
        self._handles = [optimiser.register_step_pre_hook(self._before) for optimiser in self._optimisers]

    @torch.no_grad()
    def note(self) -> None:
        """Say that an update is over: from here to the next step the weights rest."""
        self._kept = self._norms()

    @torch.no_grad()
    def look(self) -> None:
        """Compare with the last `note`, once; the first step after it does so by itself."""
        kept, self._kept = self._kept, None
        now = self._norms()
        if kept is None or now is None or kept.shape != now.shape:
            return
        change = _norm(now - kept) / _norm(kept).clamp_min(torch.finfo(torch.float32).tiny)
        self._largest = change if self._largest is None else torch.maximum(self._largest, change)
        if self._moved is not None and change.device.type == "cpu":
            size = float(change)
            if math.isfinite(self._told) and not size <= 2 * self._told:  # NaN, too
                self._told = size if math.isfinite(size) else math.inf
                self._moved(size)

    def take(self) -> dict[str, Tensor]:
        """Return the largest change [] since the last call over the norm of all weights; nothing where none was due."""
        largest, self._largest, self._told = self._largest, None, 0.0
        return {} if largest is None else {METRIC: largest}

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _before(self, *_: Any) -> None:
        if self._kept is not None:
            self.look()

    def _norms(self) -> Tensor | None:
        """Norm of each weight [W]; None where there are no weights."""
        weights = [w for optimiser in self._optimisers for group in optimiser.param_groups for w in group["params"]]
        norms: list[Tensor] = cast(Any, torch)._foreach_norm(weights) if weights else []
        if any(norm.device != norms[0].device or norm.dtype != norms[0].dtype for norm in norms[1:]):
            norms = [norm.to(norms[0].device, torch.float32) for norm in norms]
        return torch.stack(norms).float() if norms else None


def _norm(numbers: Tensor) -> Tensor:
    return cast(Any, torch.linalg).vector_norm(numbers)
