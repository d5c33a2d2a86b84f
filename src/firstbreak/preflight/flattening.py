"""Observations and actions of any kind as one flat vector of floats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray


def flat(value: Any, widest: int | None = None) -> NDArray[np.float64]:
    """Return `value` as a copy [D], dictionaries in the order of their keys; empty for what is no number.

    `widest`: entries kept at most of each array in it.
    """
    if isinstance(value, Mapping):
        inner = cast("Mapping[str, Any]", value)
        return _joined([flat(v, widest) for _, v in sorted(inner.items())])
    if isinstance(value, tuple):
        return _joined([flat(v, widest) for v in cast("tuple[Any, ...]", value)])
    try:
        return np.array(value, dtype=np.float64).reshape(-1)[:widest]
    except (TypeError, ValueError):
        return np.zeros(0)


def _joined(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate(parts) if parts else np.zeros(0)
