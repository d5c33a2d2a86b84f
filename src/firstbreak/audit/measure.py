"""The `@measure` decorator: a measure is one file that turns one sample into a few numbers.

The folder `measures` is the registry. A measure sees one sample at a time and keeps nothing, so that a file of any
length is measured in the memory of its numbers. What compares samples with one another is in `across`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from .seen import Seen

Values = Sequence[float] | None
"""One number for each column, in their order; None where the measure does not concern the sample."""

FOLDER = "firstbreak.audit.measures"


@dataclass(frozen=True)
class Measure:
    """A registered measure."""

    columns: Mapping[str, str]
    """Name of each column, `text/...`, `tokens/...` or `agent/...`, and what it holds, with its unit."""
    take: Callable[[Seen], Values]
    module: str = ""

    @property
    def nothing(self) -> tuple[float, ...]:
        """What stands in the columns of a sample that it does not concern."""
        return (float("nan"),) * len(self.columns)


def measure(columns: Mapping[str, str]) -> Callable[[Callable[[Seen], Values]], Measure]:
    """Turn a function `take(seen)` into a `Measure` of these columns."""

    def register(function: Callable[[Seen], Values]) -> Measure:
        return Measure(dict(columns), function, function.__module__)

    return register


@cache
def all_measures() -> tuple[Measure, ...]:
    """Return every measure, by the name of its module.

    Raises:
        RuntimeError: two measures share a column, or a module of the folder holds no measure or several.
    """
    package = importlib.import_module(FOLDER)
    found: list[Measure] = []
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if info.ispkg:
            continue
        module = importlib.import_module(info.name)
        here = [v for v in vars(module).values() if isinstance(v, Measure) and v.module == info.name]
        if len(here) != 1:
            raise RuntimeError(f"{info.name} must hold exactly one measure, found {len(here)}")
        found += here
    names = [name for one in found for name in one.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise RuntimeError(f"measures share the column {', '.join(twice)}")
    return tuple(found)


@cache
def meanings() -> dict[str, str]:
    """Return what each measured column holds."""
    return {name: text for one in all_measures() for name, text in one.columns.items()}
