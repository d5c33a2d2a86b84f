"""The rows of the checklist: what is asked, and which checks decide it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from ...finding import Link


@dataclass(frozen=True)
class Row:
    """One question. `look`: kind of inspection -> checks that decide (none: the whole inspection decides)."""

    id: str
    part: str
    question: str
    link: Link
    add: str
    look: Mapping[str, tuple[str, ...]]
    record: str = ""


@cache
def all_rows() -> tuple[Row, ...]:
    """Return the rows in the order in which they are gone through."""
    document = tomllib.loads((Path(__file__).parent / "rows.toml").read_text("utf-8"))
    return tuple(_row(cast("dict[str, Any]", entry)) for entry in document["row"])


def _row(entry: dict[str, Any]) -> Row:
    look = cast("dict[str, list[str]]", entry.get("look", {}))
    return Row(
        entry["id"], entry["part"], entry["question"], Link(entry["link"]), entry["add"],
        {kind: tuple(names) for kind, names in look.items()}, entry.get("record", ""),
    )  # fmt: skip
