"""Experiments that an environment may break: what it raises is another check's finding, not a fault of this one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ...finding import Skip

T = TypeVar("T")


def tried(experiment: Callable[[], T]) -> T | Skip:
    """Return what `experiment` yields, or a `Skip` that says what the environment raised in it."""
    try:
        return experiment()
    except Exception as error:
        return Skip(f"the environment raised {type(error).__name__}: {error}"[:160], ("an environment that plays on",))
