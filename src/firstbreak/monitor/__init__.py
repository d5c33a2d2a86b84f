"""Guards a run while it goes: the rules of the post-mortem at every update, alarms, actions, checkpoints, a record.

`Monitor` needs numpy and the standard library only; what needs a framework (`tensors`, `adapters`) is imported by name.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .core import Monitor
    from .verdict import Action, Alarm, Notice, Verdict

__all__ = ["Action", "Alarm", "Monitor", "Notice", "Verdict"]

_HOMES = {"Monitor": ".core", "Action": ".verdict", "Alarm": ".verdict", "Notice": ".verdict", "Verdict": ".verdict"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'firstbreak.monitor' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name], __name__), name)
