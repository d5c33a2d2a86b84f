"""The rungs in the order of climbing, from the files under `checks/`."""

from __future__ import annotations

import importlib
from functools import cache

from ...check import checks_of
from .rung import Rung


@cache
def rungs() -> dict[str, Rung]:
    """Return every rung by its name, lowest first."""
    modules = [importlib.import_module(one.module) for one in checks_of("probes")]
    found = [module.RUNG for module in modules if isinstance(getattr(module, "RUNG", None), Rung)]
    return {rung.name: rung for rung in found}
