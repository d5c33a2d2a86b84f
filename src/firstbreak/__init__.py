"""firstbreak: which link of an RL training loop broke first, on what evidence, and which experiment proves it.

The names below are the public interface; everything else is reached by its module. They are imported on first use, so
`import firstbreak` costs next to nothing inside a training process.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .api import compare, diagnose, load
    from .audit.api import audit
    from .context import record
    from .diagnosis import Diagnosis
    from .finding import Finding
    from .monitor.core import Monitor
    from .preflight.together import preflight
    from .probes.api import probe
    from .rule import rule

__all__ = [
    "Diagnosis",
    "Finding",
    "Monitor",
    "__version__",
    "audit",
    "compare",
    "diagnose",
    "load",
    "preflight",
    "probe",
    "record",
    "rule",
]

_HOMES = {
    "audit": ".audit.api",
    "compare": ".api",
    "diagnose": ".api",
    "load": ".api",
    "Diagnosis": ".diagnosis",
    "Finding": ".finding",
    "Monitor": ".monitor.core",
    "preflight": ".preflight.together",
    "probe": ".probes.api",
    "record": ".context",
    "rule": ".rule",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'firstbreak' has no attribute {name!r}")
    return getattr(importlib.import_module(home, __name__), name)


class _Package(ModuleType):
    """Lets a public name win over the module of the same name (`firstbreak.rule`), whichever was imported first."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
