"""What a format is: one module of `formats/` that holds a `DUMP`; the folder is the registry."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ...errors import unknown_name
from ..sample import Sample
from .report import ReadReport

LIKELY = 0.5
"""A file whose best format scores less is passed over."""

POSSIBLE = 0.2
"""A file that the user names, or whose columns are named, needs only the right ending."""


@dataclass(frozen=True)
class Source:
    """One file to read."""

    path: Path
    name: str
    """Below the path asked for, as samples and reports name it."""
    report: ReadReport
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    """Role -> column, where the user says so."""
    shared: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """What a format remembers from file to file of one reading."""


@dataclass(frozen=True)
class Dump:
    """One format.

    `sniff(path, head)` says how surely a file is of this format, 0 to 1, by its name and its first bytes (unpacked);
    cheap, and never raises. `read(source)` yields its samples, counts what it cannot read in `source.report`, and
    raises only errors of `firstbreak.errors`.
    """

    name: str
    title: str
    sniff: Callable[[Path, bytes], float]
    read: Callable[[Source], Iterator[Sample]]
    framework: str = ""
    """The framework whose layout it is; empty for a general one."""
    verified: bool = True
    """False while no file written by the framework itself has been read."""


@cache
def all_dumps() -> tuple[Dump, ...]:
    """Return every format, by name."""
    folder = Path(__file__).parent / "formats"
    found: list[Dump] = []
    for module in pkgutil.iter_modules([str(folder)]):
        dump = getattr(importlib.import_module(f"{__package__}.formats.{module.name}"), "DUMP", None)
        if isinstance(dump, Dump):
            found.append(dump)
    return tuple(sorted(found, key=lambda dump: dump.name))


def dump_of(path: Path, head: bytes, framework: str | None = None, least: float = LIKELY) -> Dump | None:
    """Return the format of a file, None when none scores at least `least`.

    With a `framework`, its own formats come before all others, however unlikely they look.

    Raises:
        UnknownNameError: no format belongs to `framework`.
    """
    dumps = all_dumps()
    if framework is not None:
        known = {dump.framework for dump in dumps if dump.framework} | {dump.name for dump in dumps}
        if framework not in known:
            raise unknown_name("framework", framework, known)
        own = [dump for dump in dumps if framework in {dump.framework, dump.name} and dump.sniff(path, head) > 0]
        dumps = tuple(own or (dump for dump in dumps if not dump.framework))
    scores = [(dump.sniff(path, head), bool(dump.framework), dump.name, dump) for dump in dumps]
    best = max(scores, key=lambda entry: entry[:3])
    return best[3] if best[0] > 0 and (best[0] >= least or best[3].framework == framework) else None
