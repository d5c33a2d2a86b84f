"""Which environment (policy, expert) carries which planted bug: filled by `@planted` and `@twin` in the modules beside.

A bug is addressed as `tests.preflight.planted.catalogue:env_<id>`, with underscores, so that a child process can make
it; its policy and its expert likewise, as `policy_<id>` and `expert_<id>`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

MAKERS: dict[str, Callable[..., Any]] = {}


def planted(identifier: str, kind: str = "env") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the maker of an environment with a bug; `kind` is `env`, `twin` (harmless), `policy` or `expert`."""

    def register(maker: Callable[..., Any]) -> Callable[..., Any]:
        name = f"{kind}_{identifier.replace('-', '_')}"
        assert name not in MAKERS, name
        MAKERS[name] = maker
        return maker

    return register


def load() -> dict[str, Callable[..., Any]]:
    """Import every module of planted bugs and return all makers by name."""
    for module in ("numbers", "contracts", "randomness", "endings", "actions", "accidents", "vectors", "policies"):
        importlib.import_module(f"tests.preflight.planted.{module}")
    return MAKERS


def __getattr__(name: str) -> Any:
    if not MAKERS:
        load()
    try:
        return MAKERS[name]
    except KeyError:
        raise AttributeError(name) from None
