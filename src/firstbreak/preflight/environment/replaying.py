"""A child that plays one list of actions: does it end in the same way again?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .loading import source_of
from .shapes import is_mapping

if TYPE_CHECKING:
    from ...isolation.child import Wire


def task(payload: Mapping[str, Any], wire: Wire) -> None:
    """Play `payload["actions"]` from `reset(seed=payload["seed"])` of the environment `payload["target"]`."""
    env = source_of(payload["target"], wire.journal).make()
    env.reset(seed=payload["seed"])
    for action in payload["actions"]:
        env.step(typed(action, env.action_space))


def typed(action: Any, space: Any) -> Any:
    """Return plain data in the type that `space` asks for."""
    inner: Any = getattr(space, "spaces", None)
    if is_mapping(inner):
        return {key: typed(action[key], inner[key]) for key in inner}
    if inner is not None:
        return tuple(typed(action[i], one) for i, one in enumerate(inner))
    if getattr(space, "shape", ()):
        return np.asarray(action, dtype=space.dtype)
    return space.dtype.type(action) if getattr(space, "dtype", None) is not None else action
