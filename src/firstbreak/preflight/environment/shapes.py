"""What a value of the user's is, asked without telling the type checker: nothing is known of it afterwards either."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def is_mapping(value: Any) -> bool:
    """Whether it has keys."""
    return isinstance(value, Mapping)


def is_array(value: Any) -> bool:
    """Whether it is a numpy array."""
    return isinstance(value, np.ndarray)


def is_tuple(value: Any, length: int | None = None) -> bool:
    """Whether it is a tuple (of this length)."""
    return isinstance(value, tuple) and (length is None or len(value) == length)  # pyright: ignore[reportUnknownArgumentType]


def is_whole(value: Any) -> bool:
    """Whether it is a whole number: an int, a numpy integer, or an array of shape () with one."""
    if isinstance(value, bool):
        return False
    return isinstance(value, (int, np.integer)) or (is_array(value) and value.shape == () and value.dtype.kind in "iu")


def attributes_of(value: Any) -> dict[str, Any]:
    """Return its own attributes; empty where it keeps none."""
    own: Any = getattr(value, "__dict__", None)
    return dict(own) if own else {}
