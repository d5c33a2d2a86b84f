"""What a user would hand over for each planted reward, shaping or task bug, and the table of all of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Term:
    """A shaping term F(s, a, s', terminated, truncated, t) with the steps that it is put to."""

    term: Callable[..., float]
    steps: Sequence[tuple[Any, Any, Any, bool, bool]]
    potential: Callable[..., float]
    gamma: float = 0.99
    dynamic: bool = False


@dataclass(frozen=True)
class RewardCase:
    """One of: a score table, an environment, returns, a shaping term."""

    table: Mapping[str, Any] | None = None
    """Columns by name, written to a CSV and read back."""
    env: Callable[[], Any] | None = None
    components: Sequence[str] = ()
    metric: Any = None
    gamma: float = 0.99
    reward: bool = True
    """Whether `preflight reward` is asked about the environment."""
    task: bool = False
    """Whether `preflight task` is asked, with `expert`, `goal` and `episodes`."""
    expert: Any = None
    goal: Any = None
    episodes: int = 100
    returns: Mapping[str, Any] = field(default_factory=dict[str, Any])
    shaping: Term | None = None


Maker = Callable[[], RewardCase]
CASES: dict[tuple[str, str], Maker] = {}
"""(id, `bug` or `twin`) -> maker."""


def case(identifier: str, kind: str = "bug") -> Callable[[Maker], Maker]:
    """Register the maker of a planted bug, or with `twin` of its harmless twin."""

    def register(maker: Maker) -> Maker:
        assert (identifier, kind) not in CASES, (identifier, kind)
        CASES[identifier, kind] = maker
        return maker

    return register


def load() -> dict[tuple[str, str], Maker]:
    """Import every module of planted rewards and return all makers."""
    for module in ("rewards", "reward_parts", "reward_tables", "reward_tasks", "shapings"):
        importlib.import_module(f"tests.preflight.planted.{module}")
    return CASES


def rng(seed: int = 0) -> np.random.Generator:
    """A generator of its own for each case."""
    return np.random.default_rng(seed)
