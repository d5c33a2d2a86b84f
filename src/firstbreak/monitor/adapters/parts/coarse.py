"""Whether weights use the format they are kept in: numbers that were rounded elsewhere end in zeros."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

COARSE = "net/coarse_frac"
BITS = 5
"""Last bits of the 23 of float32's mantissa that are looked at: by chance all are 0 in one of 32 weights."""
EACH = 512
"""Entries of each tensor that are looked at, its first ones."""


@torch.no_grad()
def coarse(weights: Iterable[Tensor]) -> dict[str, float]:
    """Return the share of non-zero weights in float32 whose last bits are all 0; nothing without any on the host."""
    parts = [
        weight.detach().reshape(-1)[:EACH]
        for weight in weights
        if weight.dtype == torch.float32 and weight.device.type == "cpu" and weight.requires_grad and weight.numel()
    ]
    if not parts:
        return {}
    known = torch.cat(parts)
    known = known[known != 0]
    if not known.numel():
        return {}
    return {COARSE: float(((known.view(torch.int32) & (2**BITS - 1)) == 0).float().mean())}
