"""The words beside a sample that is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...audit.views import Shown
from ..clean import plain
from ..words import number

NOTHING = "(nothing)"
TITLES = {"high": "high reward", "low": "low reward", "random": "random"}


def title(one: Shown) -> str:
    """Return where a sample stands: kind, row and source."""
    where = f" of {plain(one.source, 60)}" if one.source else ""
    return f"{TITLES[one.kind]}: row {one.row}{where}"


def scores(one: Shown) -> str:
    """Return what the log says of a sample, its stop reason and its length."""
    parts = [f"{plain(name, 40)} {number(value)}" for name, value in one.scores]
    parts += [f"stop {plain(one.stop, 30)}"] * bool(one.stop)
    return ", ".join([*parts, f"{one.characters:,} characters"])


def text(value: str, most: int = 2000) -> str:
    """Return a text of a sample as one line that is safe to show."""
    return plain(value, most) or NOTHING


def data(rows: Sequence[Sequence[Shown]]) -> list[dict[str, Any]]:
    """Return the samples as plain data, their texts made safe to show."""
    return [
        {
            "kind": one.kind,
            "row": one.row,
            "source": plain(one.source, 200),
            "scores": {plain(name, 100): value for name, value in one.scores},
            "stop": plain(one.stop, 60),
            "characters": one.characters,
            "prompt": plain(one.prompt, 2000),
            "response": plain(one.response, 2000),
        }
        for row in rows
        for one in row
    ]
