"""The minimising delta debugging algorithm, on any items.

Zeller & Hildebrandt 2002, "Simplifying and isolating failure-inducing input", IEEE TSE 28(2), figure 5. The result is
1-minimal: without any single one of its items the test no longer fails, as far as the test can be trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")


def ddmin(items: Sequence[T], shows: Callable[[tuple[T, ...]], bool], keep: Callable[[tuple[T, ...]], None]) -> None:
    """Look for a minimal part of `items` that still shows the symptom.

    Args:
        items: All of them together show it; the empty selection does not.
        shows: Whether a selection, in the order of `items`, shows it. May raise to end the search.
        keep: Hears of every smaller selection that shows it; the last one heard is the answer.
    """
    here: tuple[T, ...] = tuple(items)
    parts = 2
    while len(here) >= 2:
        chunks = split(here, parts)
        smaller = next((chunk for chunk in chunks if shows(chunk)), None)
        if smaller is not None:
            here, parts = smaller, 2
            keep(here)
            continue
        rest = next((r for r in _complements(chunks) if shows(r)), None) if parts > 2 else None
        if rest is not None:
            here, parts = rest, max(parts - 1, 2)
            keep(here)
        elif parts < len(here):
            parts = min(2 * parts, len(here))
        else:
            return


def split(items: tuple[T, ...], parts: int) -> list[tuple[T, ...]]:
    """Cut `items` into this many runs of nearly equal length, none empty."""
    edges = [len(items) * i // parts for i in range(parts + 1)]
    return [items[a:b] for a, b in pairwise(edges) if b > a]


def _complements(chunks: Sequence[tuple[T, ...]]) -> list[tuple[T, ...]]:
    return [tuple(x for j, chunk in enumerate(chunks) if j != i for x in chunk) for i in range(len(chunks))]
