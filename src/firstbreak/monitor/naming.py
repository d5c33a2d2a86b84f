"""The algorithm that the user named, where none of that name is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import unknown_name
from ..vocabulary import algorithm_named, algorithms

SETTINGS = ("algorithm", "algo", "alg", "algo_name", "algorithm_name")
"""Settings that hold nothing but the name of an algorithm. A section of that name (verl's) is none."""


def unknown_algorithm(name: str, config: Mapping[str, Any] | None = None) -> str:
    """Return what to say of an algorithm `name` that is not known, `""` where it is or none was given.

    It is no error: one may well train something of one's own. But a slip of the pen would go unseen, and rules that
    concern the algorithm meant would be left out.

    Args:
        name: As given outright; `""` for not at all.
        config: Settings, which may name one, too; they count where `name` is none that is known.
    """
    if name and algorithm_named(name):
        return ""
    settings = config or {}
    named = [value for key in SETTINGS if isinstance(value := settings.get(key), str) and value]
    wrong = named[:1] if not any(map(algorithm_named, named)) else []
    if name:
        wrong = [name]
    if not wrong:
        return ""
    error = unknown_name("algorithm", wrong[0], algorithms())
    return f"{error.message} {error.hint} What is trained is told from the keys instead.".replace("  ", " ")
