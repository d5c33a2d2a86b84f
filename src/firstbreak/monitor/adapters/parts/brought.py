"""Several tensors on the host in one transfer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ...exchange.transitions import Floats


def brought(tensors: Sequence[Tensor]) -> list[Floats]:
    """Return tensors of one device as arrays of their shapes; each transfer would make the device wait."""
    if not tensors:
        return []
    flat = torch.cat([one.detach().reshape(-1).double() for one in tensors]).cpu().numpy()
    ends = np.cumsum([one.numel() for one in tensors])[:-1]
    return [part.reshape(one.shape) for part, one in zip(np.split(flat, ends), tensors, strict=True)]
