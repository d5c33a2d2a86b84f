"""The rungs of the ladder for language models, in order of their codes."""

from __future__ import annotations

import importlib
from functools import cache

from ...check import checks_of
from .rung import TokenRung


@cache
def token_rungs() -> dict[str, TokenRung]:
    """Return every rung by its name, lowest first."""
    found: dict[str, TokenRung] = {}
    for one in checks_of("token-probes"):
        rung = getattr(importlib.import_module(one.module), "RUNG", None)
        if isinstance(rung, TokenRung):
            found[rung.name] = rung
    return found
