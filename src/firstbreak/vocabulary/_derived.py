"""Metrics that no single key of a framework holds: a count that means a share only beside another count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Derived:
    """A canonical `metric` made of several keys: `of` less those of `less`, over the sum of those of `over`."""

    metric: str
    of: str
    less: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    note: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key that is needed."""
        return (self.of, *self.less, *self.over)

    @property
    def formula(self) -> str:
        """How it is made, in the framework's own keys."""
        top = " - ".join((self.of, *self.less))
        below = " + ".join(self.over)
        return f"{top} / ({below})" if len(self.over) > 1 else f"{top} / {below}" if below else top


def derived(entry: dict[str, Any]) -> Derived:
    """Read one entry of a name file."""
    return Derived(
        metric=entry["metric"],
        of=entry["of"],
        less=tuple(entry.get("less", ())),
        over=tuple(entry.get("over", ())),
        note=entry.get("note", ""),
    )
