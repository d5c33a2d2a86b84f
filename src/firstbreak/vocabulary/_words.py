"""Splits a key into words: joined words (`avgreward`), averaging windows (`mean_100`) and units (`mem_mb`)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

_SPLIT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9@%]+")
_NUMBER_BEHIND = re.compile(r"([a-z]+)(\d{2,})")
_NUMBER_BEFORE = re.compile(r"(\d{2,})([a-z]+)")
WINDOWS = frozenset({"ma", "ema", "rolling", "moving", "smooth", "smoothed", "window", "windowed"})
"""Words that say that a number was averaged over a window, and nothing of what it is."""
LAST = frozenset({"last", "past"})
"""The same, where the length of the window stands beside."""
AVERAGES = frozenset({"mean", "avg", "average", "running"})
"""Words beside which a number is the length of such a window."""
LETTERS = {"q", "v"}
"""Single letters that may be a part of a joined word, beside one of these:"""
BESIDE = frozenset({"value", "values", "vals", "loss", "max", "min", "mean", "avg", "target", "targets"})
MOST_PARTS = 3
WORDS_KEPT = 1 << 16
"""Keys whose words are remembered, and words that are: a logger that makes up new keys for ever must not fill the
memory. Engineering choice: 20 MB."""


@dataclass(frozen=True)
class Unit:
    """A unit that a key may name: what it measures, and how many of that dimension's base unit it is."""

    dimension: str
    size: float


UNITS: dict[str, Unit] = {
    **dict.fromkeys(("bytes", "byte"), Unit("memory", 1e-9)),
    **dict.fromkeys(("kb", "kib"), Unit("memory", 1e-6)),
    **dict.fromkeys(("mb", "mib", "megabytes"), Unit("memory", 1e-3)),
    **dict.fromkeys(("gb", "gib", "gigabytes"), Unit("memory", 1.0)),
    **dict.fromkeys(("us", "microseconds"), Unit("time", 1e-6)),
    **dict.fromkeys(("ms", "msec", "millis", "milliseconds"), Unit("time", 1e-3)),
    **dict.fromkeys(("s", "second"), Unit("time", 1.0)),
    **dict.fromkeys(("mins", "minutes"), Unit("time", 60.0)),
    **dict.fromkeys(("hrs", "hours"), Unit("time", 3600.0)),
    **dict.fromkeys(("pct", "percent", "perc", "%"), Unit("share", 0.01)),
}
"""Units by the word that names them, as `words_of` spells it. Binary and decimal prefixes are one: curves are looked at
for their shape."""
DIMENSIONS = {"GB": ("memory", 1.0), "s": ("time", 1.0), "frac": ("share", 1.0), "percent": ("share", 0.01)}
"""What the units of canonical metrics measure, and how many base units they are."""


def scale(word: str, unit: str) -> str | None:
    """Return the transform that brings a number in the unit `word` to the canonical `unit`; None if none does."""
    dimension, base = DIMENSIONS.get(unit, ("", 1.0))
    named = UNITS.get(word)
    if named is None or named.dimension != dimension:
        return None
    factor = named.size / base
    return "" if abs(factor - 1) < 1e-9 else f"scale:{factor:g}"


def split(key: str, known: Collection[str]) -> list[str]:
    """Return the words of `key` in lower case; one that is not `known` is taken apart if its parts are.

    An index at the end (`ratio[:,0]`) is left out. A letter `s` behind `per` is a second.
    """
    words: list[str] = []
    for word in _SPLIT.split(key.split("[", 1)[0]):
        if word:
            words += parts(word.lower(), frozenset(known))
    return ["second" if w == "s" and words[i - 1 : i] == ["per"] else w for i, w in enumerate(words)]


@lru_cache(maxsize=WORDS_KEPT)
def parts(word: str, known: frozenset[str]) -> tuple[str, ...]:
    """Return the known words that `word` joins, itself where it is known or cannot be taken apart."""
    if word in known:
        return (word,)
    behind, before = _NUMBER_BEHIND.fullmatch(word), _NUMBER_BEFORE.fullmatch(word)
    if behind is not None and behind[1] in WINDOWS | AVERAGES | LAST:
        return (behind[1], behind[2])
    if before is not None and before[2] in known:
        return (before[1], before[2])
    if not word.isalpha():
        return (word,)
    for count in range(2, MOST_PARTS + 1):
        found = list(_joined(word, known, count))
        if len(found) == 1:
            return found[0]
    return (word,)


def _joined(word: str, known: frozenset[str], count: int) -> list[tuple[str, ...]]:
    """Return every way to cut `word` into `count` known words."""
    if count == 1:
        return [(word,)] if (word in known and len(word) > 1) or word in LETTERS else []
    found: list[tuple[str, ...]] = []
    for at in range(1, len(word)):
        head = word[:at]
        if head in LETTERS or (len(head) > 1 and head in known):
            found += [(head, *rest) for rest in _joined(word[at:], known, count - 1)]
    return [cut for cut in found if all(len(w) > 1 or BESIDE & set(cut) for w in cut)]


def without_window(words: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Return `words` without what only says that a number was averaged over a window, and whether anything did."""
    numbers = {word for word in words if word.isdigit() and len(word) > 1}
    averaged = bool((WINDOWS | AVERAGES | LAST) & set(words))
    dropped = {*WINDOWS, *(LAST if numbers else ()), *(numbers if averaged else ())}
    kept = [word for word in words if word not in dropped]
    return tuple(kept), len(kept) < len(words)
