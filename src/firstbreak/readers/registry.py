"""The readers: every module of this package that holds a `READER`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path

from .protocol import Reader


@cache
def all_readers() -> tuple[Reader, ...]:
    """Return every reader, by name."""
    found: list[Reader] = []
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        reader = getattr(importlib.import_module(f"{__package__}.{module.name}"), "READER", None)
        if isinstance(reader, Reader):
            found.append(reader)
    return tuple(sorted(found, key=lambda reader: reader.name))


def reader_named(name: str) -> Reader:
    """Return the reader called `name`."""
    return next(reader for reader in all_readers() if reader.name == name)
