"""Causes, one file a link; the folder is the registry. Each module holds a tuple `CAUSES`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from ..cause import Cause
from ..errors import unknown_name


@cache
def all_causes() -> tuple[Cause, ...]:
    """Return every cause, in the order of the files and of each file.

    Raises:
        RuntimeError: two causes share a name.
    """
    found: list[Cause] = []
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda i: i.name):
        module = importlib.import_module(f"{__name__}.{info.name}")
        found.extend(module.CAUSES)
    names = [c.name for c in found]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise RuntimeError(f"causes share the name {', '.join(twice)}")
    return tuple(found)


def find_cause(name: str) -> Cause:
    """Return the cause called `name`.

    Raises:
        UnknownNameError: there is none; the hint offers the nearest.
    """
    for cause in all_causes():
        if cause.name == name.strip().lower():
            return cause
    raise unknown_name("cause", name, [c.name for c in all_causes()])
