"""What a case of an invariant is: a trainer with one bug, the same without it, and one that only looks as if."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from firstbreak.preflight.invariants.adapters import reference
from firstbreak.preflight.invariants.pieces import Pieces

Make = Callable[[], Pieces]


@dataclass(frozen=True)
class Case:
    """Three trainers for one check."""

    fires: Make
    """The check must find a fault here."""
    healthy: Make
    """The check must look here and find nothing."""
    near_miss: Make
    """Something odd but right, close to the fault: the check must look and find nothing."""
    odd: str
    """What is odd about it."""


def made(trainer: type, kind: str = "discrete") -> Make:
    """A class derived from a reference trainer, built as `firstbreak preflight invariants` builds it."""
    return lambda: reference.build(trainer, kind, 0)


def changed(make: Make, **fields: Any) -> Make:
    """The pieces of `make` with other `fields`; `settings` are laid over those it has."""

    def build() -> Pieces:
        pieces = make()
        settings = {**pieces.settings, **fields.get("settings", {})}
        return replace(pieces, **{**fields, "settings": settings})

    return build
