"""What a step does to the weights, seen on a fixed sample of them: no copy of the model, one transfer.

A step of Adam moves every weight that has a gradient. Weights that stay as they were, bit for bit, were moved by less
than half a unit in their last place, or are not those that the optimiser holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import torch
from torch import Tensor

SAMPLED = 16_384
"""Weights that are looked at: a share of them is then known to 1 %."""
STILL, DELTA, DECAY, HELD = "optim/still_frac", "optim/weight_delta", "optim/decay_frac", "optim/held_weights_frac"


class SampledWeights:
    """Keeps some entries of `weights` from before a step, and compares them with what the step left.

    Args:
        weights: Plain tensors; those that are spread over processes or empty here (FSDP, ZeRO-3) are left out.
        count: Entries in all, as many of each tensor as its size asks for, one at least.
    """

    def __init__(self, weights: Iterable[Tensor], count: int = SAMPLED) -> None:
        self._weights = [w for w in weights if w.numel() and type(w) in (Tensor, torch.nn.Parameter)]
        total, rng = sum(w.numel() for w in self._weights), torch.Generator().manual_seed(0)
        self._places = [
            torch.randint(w.numel(), (max(1, round(count * w.numel() / total)),), generator=rng, device="cpu").to(
                w.device
            )
            for w in self._weights
        ]
        self._kept: Tensor | None = None
        self._pulled: Tensor | None = None

    @torch.no_grad()
    def before(self) -> None:
        """Note the entries, and which of them have a gradient."""
        self._kept = self._of(self._weights)
        gradients = [w.grad if w.grad is not None and not w.grad.is_sparse else None for w in self._weights]
        filled = [torch.zeros_like(w[:0]) if g is None else g for w, g in zip(self._weights, gradients, strict=True)]
        self._pulled = self._of(filled)

    def forget(self) -> None:
        """Say that the step was left out."""
        self._kept = self._pulled = None

    @torch.no_grad()
    def after(self) -> dict[str, Tensor]:
        """Return the share [] of the entries with a gradient that stayed, and the change of all over their norm []."""
        kept, pulled = self._kept, self._pulled
        self.forget()
        if kept is None or pulled is None:
            return {}
        moved = self._of(self._weights) - kept
        with_gradient = pulled != 0
        still = (with_gradient & (moved == 0)).sum() / with_gradient.sum()  # NaN where nothing has a gradient
        return {STILL: still, DELTA: _norm(moved) / _norm(kept)}

    @torch.no_grad()
    def change(self) -> Tensor | None:
        """Return the change [] of the entries since the last call over their norm; None at the first call."""
        now, before = self._of(self._weights), self._kept
        self._kept = now
        return None if before is None or not now.numel() else _norm(now - before) / _norm(before)

    def _of(self, tensors: Sequence[Tensor]) -> Tensor:
        """The sampled entries [N] in float32, 0 for tensors without any; exact for all shorter formats."""
        parts = [
            t.detach().reshape(-1)[places].float() if t.numel() else torch.zeros(len(places), device=places.device)
            for t, places in zip(tensors, self._places, strict=True)
        ]
        if any(part.device != parts[0].device for part in parts[1:]):
            parts = [part.to(parts[0].device) for part in parts]
        return torch.cat(parts) if parts else torch.zeros(0, device="cpu")


def decay(optimizer: Any) -> dict[str, float]:
    """Return the share by which decoupled weight decay shrinks weights at a step, the largest of all groups.

    Only of optimisers that decay beside the gradient (Loshchilov and Hutter 2019, arXiv 1711.05101, algorithm 2).
    """
    inner = getattr(optimizer, "optimizer", optimizer)
    groups = cast("list[dict[str, Any]]", getattr(inner, "param_groups", []))
    if not any(name in type(inner).__name__.lower() for name in ("adamw", "lion", "muon")):
        return {}
    shares = [float(group["lr"]) * float(group.get("weight_decay") or 0.0) for group in groups if group["params"]]
    return {DECAY: max(shares)} if shares else {}


def held(optimizer: Any, weights: Iterable[Tensor]) -> dict[str, float]:
    """Return the share of the trainable entries of `weights` that lie in tensors the optimiser holds."""
    groups = cast("list[dict[str, Any]]", getattr(optimizer, "param_groups", []))
    known = {id(weight) for group in groups for weight in group["params"]}
    trained = [weight for weight in weights if weight.requires_grad and weight.numel()]
    whole = sum(weight.numel() for weight in trained)
    mine = sum(weight.numel() for weight in trained if id(weight) in known)
    return {HELD: mine / whole} if whole else {}


def _norm(numbers: Tensor) -> Tensor:
    return cast(Any, torch.linalg).vector_norm(numbers)
