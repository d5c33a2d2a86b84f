"""Whether gradients are kept from one micro-batch to the next, gone after a step, and unchanged until the next one.

Backward adds to what is there, so that the gradient of an update is the sum over its micro-batches: none may be lost
on the way, none may be left of the update before, and between the last of them and the step only its length may change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor

SAMPLED = 2048
"""Entries of the gradients that are looked at."""
LOST, LEFT, ALTERED = "optim/gradient_lost_frac", "optim/gradient_left_frac", "optim/gradient_altered_frac"


class KeptGradients:
    """Looks at a fixed sample of the gradients of `weights`; exact comparisons, no model of any kind."""

    def __init__(self, weights: Sequence[Tensor], count: int = SAMPLED) -> None:
        self._weights = [w for w in weights if w.requires_grad and w.numel()]
        total, rng = sum(w.numel() for w in self._weights), torch.Generator().manual_seed(0)
        sizes = [max(1, round(count * w.numel() / total)) for w in self._weights]
        self._places = [  # drawn where the generator lives, whatever the default device is
            torch.randint(w.numel(), (size,), generator=rng, device="cpu").to(w.device)
            for w, size in zip(self._weights, sizes, strict=True)
        ]
        self._kept: Tensor | None = None
        self._micro = 0
        self._lost: list[Tensor] = []
        self._left: Tensor | None = None

    @torch.no_grad()
    def before_loss(self) -> None:
        """Say that the loss of a micro-batch is about to be made."""
        if self._micro == 0:
            if any(w.grad is not None for w in self._weights):
                self._left = self._now()
        elif self._kept is not None:
            now, size = self._now(), _norm(self._kept)
            self._lost.append(_norm(now - self._kept) / size.clamp_min(torch.finfo(torch.float32).tiny))

    @torch.no_grad()
    def after_backward(self) -> None:
        """Say that the gradient of a micro-batch has been added."""
        self._micro += 1
        self._kept = self._now()

    @torch.no_grad()
    def row(self) -> dict[str, float]:
        """Return what became of gradients, right before the step; the update ends here."""
        kept, lost, left, micro = self._kept, self._lost, self._left, self._micro
        self._kept, self._lost, self._left, self._micro = None, [], None, 0
        if kept is None:
            return {}
        now, none = self._now(), kept.new_zeros(())
        numbers = [  # one transfer, however many micro-batches there were
            _norm(kept), none if left is None else _norm(left), _norm(now), (now * kept).sum(),
            torch.stack(lost).clamp(max=1.0).mean() if lost else none,
        ]  # fmt: skip
        size, rest, length, product, share = cast("list[float]", cast(Any, torch.stack(numbers)).tolist())
        if not math.isfinite(size):
            return {}
        row: dict[str, float] = {}
        if micro > 1 and lost:
            row[LOST] = share
        if size > 0:
            row[LEFT] = min(1.0, rest / size)
            aligned = product / (length * size) if length > 0 else 0.0
            row[ALTERED] = max(0.0, 1 - max(aligned, 0.0) ** 2) ** 0.5
        return row

    def _now(self) -> Tensor:
        parts = [
            w.grad.reshape(-1)[at].float() if w.grad is not None and not w.grad.is_sparse else at.float() * 0
            for w, at in zip(self._weights, self._places, strict=True)
        ]
        return torch.cat([part.to(parts[0].device) for part in parts]) if parts else torch.zeros(1)


def _norm(numbers: Tensor) -> Tensor:
    return cast(Any, torch.linalg).vector_norm(numbers)
