"""Keeping what several checks need of one world, so that it is computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def remembered(subject: Any, name: str, compute: Callable[[], T]) -> T:
    """Return `compute()`, kept on `subject` under `name` for the next check that asks; failures are not kept."""
    kept: Any = getattr(subject, "_remembered", None)
    if kept is None:
        kept = dict[str, Any]()
        subject._remembered = kept
    if name not in kept:
        kept[name] = compute()
    return kept[name]
