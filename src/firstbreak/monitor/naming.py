"""The algorithm that the user named, where none of that name is known."""

from __future__ import annotations

from ..errors import unknown_name
from ..vocabulary import algorithm_named, algorithms


def unknown_algorithm(name: str) -> str:
    """Return what to say of an algorithm `name` that is not known, `""` where it is or none was given.

    It is no error: one may well train something of one's own. But a slip of the pen would go unseen, and rules that
    concern the algorithm meant would be left out.
    """
    if not name or algorithm_named(name):
        return ""
    error = unknown_name("algorithm", name, algorithms())
    return f"{error.message} {error.hint} What is trained is told from the keys instead.".replace("  ", " ")
