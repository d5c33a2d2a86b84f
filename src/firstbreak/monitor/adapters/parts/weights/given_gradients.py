"""Whether an optimiser is given the gradient that backward left: for a few entries, now and then.

Between the loss and the step a gradient may be shrunk, as a whole or entry by entry (clipping by norm or by value), and
nothing else: where an entry is larger than backward left it, or has another sign, something wrote into it.
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Numbers = NDArray[Any]
TENSORS, ENTRIES = 2, 32
"""Tensors that are looked at, the first and the last, and entries of each. Engineering choice: what changes gradients
changes all, and a callback for each costs a microsecond a step."""
SLACK = 1e-3
"""Share of an entry by which arithmetic on the way may enlarge it."""
KINDS = (torch.float32, torch.float64)


class GivenGradient:
    """Compares the gradients of some weights as backward left them with those that their optimiser's step found.

    Args:
        weights: Dense tensors on a processor that are trained.
        every: Steps from one that is looked at to the next.
    """

    def __init__(self, weights: list[Tensor], every: int) -> None:
        self._weights = [weights[at] for at in sorted({0, len(weights) - 1})][:TENSORS]
        self._every, self._steps = every, 0
        self._left: dict[int, Numbers] = {}
        self._handles: list[Any] = [
            cast(Any, weight).register_post_accumulate_grad_hook(partial(self._filled, at))
            for at, weight in enumerate(self._weights)
        ]

    def stepped(self) -> tuple[Numbers, Numbers] | None:
        """Say that a step is over; return what of its gradient backward had not left, and what it had, each [E].

        None where this step is not looked at, or had no gradient.
        """
        left, self._left = self._left, {}
        self._steps += 1
        found = [weight.grad for weight in self._weights]
        if len(left) < len(found) or not all(map(_readable, found)):
            return None
        used = np.concatenate([_entries(cast(Tensor, gradient)) for gradient in found])
        given = np.concatenate([left[at] for at in range(len(found))])
        if used.shape != given.shape or not (np.isfinite(used).all() and np.isfinite(given).all()):
            return None
        wide = given * (1 + SLACK)
        return used - np.clip(used, np.minimum(wide, 0), np.maximum(wide, 0)), given

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _filled(self, at: int, weight: Tensor) -> None:
        """After backward added to the gradient of a weight; of several micro-batches the last leaves their sum."""
        if (self._steps + 1) % self._every == 0 and _readable(weight.grad):
            self._left[at] = _entries(cast(Tensor, weight.grad)).copy()


def _readable(gradient: Tensor | None) -> bool:
    return gradient is not None and gradient.device.type == "cpu" and gradient.dtype in KINDS and not gradient.is_sparse


def _entries(gradient: Tensor) -> Numbers:
    """Every so many entries; an odd number, so that they do not all lie in one column."""
    flat: Numbers = cast(Any, gradient.detach()).reshape(-1).numpy()
    stride = max(1, flat.size // ENTRIES) | 1
    return flat[: stride * ENTRIES : stride]
