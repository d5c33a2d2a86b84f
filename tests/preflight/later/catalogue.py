"""Which environment carries which bug of the later list; a child process makes it by its name.

A bug is addressed as `tests.preflight.later.catalogue:bug_<id>` with underscores, a harmless oddity as
`...:harmless_<id>`. The lists are `environment.toml` and `reward.toml` beside.
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

Maker = Callable[..., Any]
MAKERS: dict[str, Maker] = {}
ORIGINALS: dict[str, Maker] = {}
"""The healthy environment that each bug was planted in, by the same name."""
MODULES = ("contracts", "goals", "harmless", "looks", "markets", "physics", "robots", "several")


def listed(name: str, table: str) -> list[dict[str, Any]]:
    """Return the entries `[[table]]` of a list of this folder."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text("utf-8"))[table]


def attribute(kind: str, identifier: str) -> str:
    """Return the name that a maker is registered under."""
    return f"{kind}_{identifier.replace('-', '_')}"


def bug(identifier: str, original: Maker) -> Callable[[Maker], Maker]:
    """Register the maker of an environment with a bug, and of what it is without."""

    def register(maker: Maker) -> Maker:
        name = attribute("bug", identifier)
        assert name not in MAKERS, name
        MAKERS[name], ORIGINALS[name] = maker, original
        return maker

    return register


def harmless(identifier: str) -> Callable[[Maker], Maker]:
    """Register the maker of an environment that is odd and right."""

    def register(maker: Maker) -> Maker:
        name = attribute("harmless", identifier)
        assert name not in MAKERS, name
        MAKERS[name] = maker
        return maker

    return register


def load() -> dict[str, Maker]:
    """Import every module of makers and return all of them by name."""
    for module in MODULES:
        importlib.import_module(f"tests.preflight.later.{module}")
    return MAKERS


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    load()
    try:
        return MAKERS[name]
    except KeyError:
        raise AttributeError(name) from None
