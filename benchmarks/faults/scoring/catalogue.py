"""The list of faults: which link each breaks, which others are as right, its cause. Lives apart from the runs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firstbreak.errors import InputError
from firstbreak.finding import Link

LINKS = frozenset(link.value for link in Link)


@dataclass(frozen=True)
class Fault:
    """What is true of a fault: `link` breaks; `also_right` are links whose symptom is as direct, with the reason."""

    id: str
    link: str
    also_right: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    """Names of causes that are right; empty where firstbreak knows none."""
    component: str = ""
    first_metric: tuple[str, ...] = ()
    protocol: bool = False
    """It hurts the protocol, not the score."""
    half: str = ""

    @property
    def links(self) -> frozenset[str]:
        """Every link that is right."""
        return frozenset((self.link, *self.also_right))


def read_faults(path: Path) -> dict[str, Fault]:
    """Return the faults of a list by id.

    Raises:
        InputError: a fault lacks an id or a link, or names a link that does not exist.
    """
    table = tomllib.loads(path.read_text("utf-8")).get("fault", [])
    faults = [fault_of(entry, f"{path}, fault {number}") for number, entry in enumerate(table)]
    return {fault.id: fault for fault in faults}


def fault_of(entry: Mapping[str, Any], place: str) -> Fault:
    """Return one fault of the list."""
    for name in ("id", "link"):
        if not isinstance(entry.get(name), str):
            raise InputError(f"{place}: field {name!r} is missing or no text.", "Complete the list of faults.")
    links = (entry["link"], *_texts(entry.get("also_right")))
    unknown = [link for link in links if link not in LINKS]
    if unknown:
        raise InputError(f"{place}: {unknown[0]!r} is no link.", f"Links: {', '.join(sorted(LINKS))}.")
    return Fault(
        id=entry["id"],
        link=entry["link"],
        also_right=links[1:],
        causes=_texts(entry.get("cause")),
        component=str(entry.get("component", "")),
        first_metric=_texts(entry.get("first_metric")),
        protocol=bool(entry.get("protocol", False)),
        half=str(entry.get("half", "")),
    )


def _texts(value: Any) -> tuple[str, ...]:
    """Return one text, a list of them, or a table whose keys they are (link -> reason)."""
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Mapping):
        return tuple(str(key) for key in value)
    # a list of texts, or of tables {link = ..., why = ...}
    return tuple(str(item["link"]) if isinstance(item, Mapping) else str(item) for item in value)
