"""Makes a response shorter while something stays true of it: delta debugging."""

from __future__ import annotations

from collections.abc import Callable


def shortest(text: str, holds: Callable[[str], bool], budget: int = 200) -> str:
    """Return a shorter text of which `holds` is still true, asking at most `budget` times.

    Parts are left out, halves first, then ever smaller ones, until no single character can go
    (ddmin, Zeller and Hildebrandt 2002, doi:10.1109/32.988498). `holds(text)` must be true.
    """
    asked = 0
    parts = 2
    while len(text) > 1 and asked < budget:
        size = max(1, -(-len(text) // parts))
        for start in range(0, len(text), size):
            if asked >= budget:
                break
            candidate = text[:start] + text[start + size :]
            asked += 1
            if holds(candidate):
                text, parts = candidate, max(2, parts - 1)
                break
        else:
            if size == 1:
                break
            parts = min(len(text), parts * 2)
    if text and asked < budget and holds(""):
        return ""
    return text
