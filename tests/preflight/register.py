"""A register of planted environments: which maker carries which bug of a list, found by its name in a child process."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Maker = Callable[..., Any]


def attribute(kind: str, identifier: str) -> str:
    """Return the name that a maker is registered under."""
    return f"{kind}_{identifier.replace('-', '_')}"


@dataclass
class Register:
    """The makers of one list. `package` holds the list's tables and the `modules` of makers."""

    package: str
    folder: Path
    modules: tuple[str, ...]
    makers: dict[str, Maker] = field(default_factory=dict[str, Maker])
    originals: dict[str, Maker] = field(default_factory=dict[str, Maker])
    """The healthy environment that each bug was planted in, by the same name."""

    def listed(self, name: str, table: str) -> list[dict[str, Any]]:
        """Return the entries `[[table]]` of the list `name`."""
        return tomllib.loads((self.folder / f"{name}.toml").read_text("utf-8"))[table]

    def bug(self, identifier: str, original: Maker) -> Callable[[Maker], Maker]:
        """Register the maker of an environment with a bug, and of what it is without."""
        self.originals[attribute("bug", identifier)] = original
        return self.other(identifier, "bug")

    def other(self, identifier: str, kind: str = "harmless") -> Callable[[Maker], Maker]:
        """Register the maker of an environment that is odd and right, or of another `kind`."""

        def register(maker: Maker) -> Maker:
            name = attribute(kind, identifier)
            assert name not in self.makers, name
            self.makers[name] = maker
            return maker

        return register

    def load(self) -> dict[str, Maker]:
        """Import every module of makers and return all of them by name."""
        for module in self.modules:
            importlib.import_module(f"{self.package}.{module}")
        return self.makers

    def named(self, name: str) -> Maker:
        """Return the maker called `name`; for a module's `__getattr__`.

        Raises:
            AttributeError: there is none.
        """
        maker = None if name.startswith("__") else self.load().get(name)
        if maker is None:
            raise AttributeError(name)
        return maker
