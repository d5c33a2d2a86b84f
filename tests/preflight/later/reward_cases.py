"""What a user would hand over for each reward, shaping or task bug of the later list, and for each harmless one."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from ..planted.reward_cases import RewardCase

Maker = Callable[[], RewardCase]
CASES: dict[tuple[str, str], Maker] = {}
"""(id, `bug` or `harmless`) -> maker."""


def case(identifier: str, kind: str = "bug") -> Callable[[Maker], Maker]:
    """Register the maker of a bug, or with `harmless` of an odd reward that is right."""

    def register(maker: Maker) -> Maker:
        assert (identifier, kind) not in CASES, (identifier, kind)
        CASES[identifier, kind] = maker
        return maker

    return register


def load() -> dict[tuple[str, str], Maker]:
    """Import both modules of cases and return all makers."""
    for module in ("rewards", "reward_tables"):
        importlib.import_module(f"tests.preflight.later.{module}")
    return CASES
