"""How much of a model is trained: which of its matrices may move, and which of those have a gradient."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

MAY, WITHOUT = "optim/trainable_frac", "optim/without_gradient_frac"
ADAPTERS = ("lora_", "adapter", "prompt_encoder", "ia3_", "prefix_")
"""Parts of names of weights that stand for a model whose own weights are frozen on purpose."""


@torch.no_grad()
def trained_share(model: Any) -> dict[str, float]:
    """Return the share of the matrices of `model` that may be trained, and of those the share without any gradient.

    Nothing is returned of a model with adapters, nor the second where no weight has a gradient: then no response was
    better than another. To be called between the backward pass and the step.
    """
    named = [(name, w) for name, w in model.named_parameters() if w.dim() > 1 and w.numel()]
    if not named or getattr(model, "peft_config", None) is not None:
        return {}
    if any(part in name for name, _ in named for part in ADAPTERS):
        return {}
    open_ = [w for _, w in named if w.requires_grad]
    row = {MAY: len(open_) / len(named)}
    sparse = sum(w.grad is not None and w.grad.is_sparse for w in open_)
    dense = [w.grad for w in open_ if w.grad is not None and not w.grad.is_sparse]
    filled = sparse + (_filled(dense) if dense else 0)
    return row | ({WITHOUT: 1 - filled / len(open_)} if filled else {})


def _filled(gradients: list[Tensor]) -> int:
    """Return how many of `gradients` hold anything but 0."""
    norms: list[Tensor] = cast(Any, torch)._foreach_norm(gradients, float("inf"))
    return int((torch.stack([norm.to(norms[0].device, torch.float32) for norm in norms]) != 0).sum())
