"""`TaskSample`: returns of random play, of an expert and of the trained policy, and how their episodes ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..reward.sample import numbers

Array = NDArray[np.float64]
WHO = ("random", "expert", "trained")


@dataclass(frozen=True, eq=False)
class TaskSample:
    """Each field maps `random`, `expert` and `trained`, as far as known, to one value per episode [E]."""

    returns: Mapping[str, Any]
    lengths: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Steps of each episode."""
    truncated: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Whether a time limit cut the episode."""
    goal_reached: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Whether the goal region was entered at any step."""
    goal_kept: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Whether the last step lay in the goal region."""
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not self.returns:
            raise InputError("No returns.", "Give the returns of random play, and of an expert or the trained policy.")
        for name in ("returns", "lengths", "truncated", "goal_reached", "goal_kept"):
            given: Mapping[str, Any] = getattr(self, name)
            columns = {who: _column(f"{name} of {who}", values) for who, values in given.items() if values is not None}
            unknown = set(columns) - set(WHO)
            if unknown:
                raise InputError(f"{name} of {min(unknown)!r}.", f"Known are {', '.join(WHO)}.")
            object.__setattr__(self, name, columns)
        for name in ("lengths", "truncated", "goal_reached", "goal_kept"):
            for who, values in getattr(self, name).items():
                if who in self.returns and values.size != self.returns[who].size:
                    sizes = f"{values.size} episodes for {self.returns[who].size} returns"
                    raise InputError(f"{name} of {who}: {sizes}.", "Give one value per episode.")

    @cached_property
    def best(self) -> str:
        """Whose mean return is highest: what is known to be possible."""
        finite = {w: v[np.isfinite(v)] for w, v in self.returns.items()}
        means = {w: float(v.mean()) for w, v in finite.items() if v.size}
        return max(means, key=lambda w: means[w]) if means else next(iter(self.returns))


def _column(name: str, values: Any) -> Array:
    found = numbers(name, values).reshape(-1)
    if not found.size:
        raise InputError(f"{name}: no episodes.", "Give one number per episode.")
    return found
