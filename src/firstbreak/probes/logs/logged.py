"""`Logged`: what the log of one training of a script holds and what the rules say of it. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ...finding import Component, Link, Severity


@dataclass(frozen=True)
class Told:
    """A finding of `diagnose` in the log of one training."""

    name: str
    severity: Severity
    link: Link
    component: Component
    message: str
    consequence: bool = False
    """Whether it follows from another finding of the same log."""


@dataclass(frozen=True)
class LateReturn:
    """The mean of the returns in the last quarter of the log, and the standard error of that mean."""

    metric: str
    mean: float
    error: float
    rows: int


@dataclass(frozen=True)
class Logged:
    """The log of one training."""

    readers: tuple[str, ...] = ()
    """Formats that were found, by the readers' names."""
    metrics: tuple[str, ...] = ()
    """Canonical metrics that its keys mean."""
    told: tuple[Told, ...] = ()
    """In the order of their onset."""
    looked: int = 0
    """Rules that looked."""
    late_return: LateReturn | None = None
    unread: str = ""
    """Why nothing could be read, empty where something was."""


def to_plain(logged: Logged) -> dict[str, Any]:
    """Return `logged` as JSON can hold it."""
    from dataclasses import asdict

    return asdict(logged)


def from_plain(data: dict[str, Any]) -> Logged:
    """Return the `Logged` that `to_plain` and JSON turned into plain data."""
    late = data.get("late_return")
    return Logged(
        tuple(data["readers"]),
        tuple(data["metrics"]),
        tuple(
            replace(
                Told(**t), severity=Severity(t["severity"]), link=Link(t["link"]), component=Component(t["component"])
            )
            for t in data["told"]
        ),
        data["looked"],
        None if late is None else LateReturn(**late),
        data["unread"],
    )
