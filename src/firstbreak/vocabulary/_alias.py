"""Reads a key's words: quantities that are named plainly, whichever framework or hand-written loop logged them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from itertools import product
from typing import Any

from ._metrics import metrics
from ._words import UNITS, WORDS_KEPT, scale, split, without_window

_IN_BRACKETS = re.compile(r"\s*[(\[]\s*([A-Za-z]+|%)\s*[)\]]\s*$")
SMOOTHED = 100
"""Added to the rank of a key that a window was taken over: the same without one is the more telling."""
SCOPED = 50
"""Added to the rank of a key that stands in a scope of its writer's own."""
LOSSES = frozenset({"loss", "losses"})
_NO_LOSS = re.compile(
    r"policy/(?:clip_fraction|kl_old|kl_k1|ratio_)|critic/(?:explained_variance|clip_fraction)|optim/lr"
)
NEAR = 0.5
"""Least share of common words (Jaccard) at which a key is said to resemble a metric. For display only."""

WHOLE = 0.2
"""What it adds to that share when every word of the metric is in the key. Engineering default."""


@dataclass(frozen=True)
class Alias:
    """What a key's words name plainly; `rank` is lower for the more telling spelling, `words` are those that told."""

    metric: str
    component: str
    transform: str
    rank: int
    words: frozenset[str]


@dataclass(frozen=True)
class _Entry:
    metric: str
    spellings: tuple[frozenset[str], ...]
    keep: frozenset[str]
    context: str
    transform: str
    unit: bool
    """Whether the key must name a unit: without one the words do not settle the scale."""


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files("firstbreak.vocabulary").joinpath("aliases.toml").read_text("utf-8"))


@cache
def _entries() -> tuple[_Entry, ...]:
    return tuple(
        _Entry(
            metric=entry["metric"],
            spellings=tuple(spelling for words in entry["words"] for spelling in _spellings(words)),
            keep=frozenset(entry.get("keep", ())),
            context=entry.get("context", ""),
            transform=entry.get("transform", ""),
            unit=entry.get("unit", False),
        )
        for entry in _table()["alias"]
    )


def _spellings(words: str) -> Iterator[frozenset[str]]:
    """Yield every word set of `words`, in which `a|b` offers a choice and `-` stands for no word."""
    for choice in product(*(word.split("|") for word in words.split())):
        yield frozenset(choice) - {"-"}


@cache
def _by_words() -> dict[frozenset[str], tuple[tuple[int, _Entry], ...]]:
    """Every word set with the entries that it speaks for, and its rank there."""
    found: dict[frozenset[str], list[tuple[int, _Entry]]] = {}
    for entry in _entries():
        for rank, words in enumerate(entry.spellings):
            found.setdefault(words, []).append((rank, entry))
    return {words: tuple(entries) for words, entries in found.items()}


@cache
def _families() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(entry["match"]), entry["metric"]) for entry in _table()["family"])


@lru_cache(maxsize=WORDS_KEPT)
def words_of(key: str) -> tuple[str, ...]:
    """Return the words of `key` in lower case, each in its one spelling (`rew` is `reward`), joined where one is split.

    An index at the end (`ratio[:,0]`) is left out.
    """
    same: dict[str, str] = _table()["same"]
    joined: list[str] = []
    for word in split(key, _parts()):
        pair = f"{joined[-1]} {word}" if joined else ""
        if pair in same:
            joined[-1] = pair
        else:
            joined.append(word)
    return tuple(word for name in joined for word in same.get(name, name).split())


def alias(key: str, contexts: Collection[str]) -> Alias | None:
    """Return what the words of `key` name plainly, or None.

    `contexts` says what the log is otherwise known to be: `language` or `control`, and `reward` where it has one.
    """
    bracket = _IN_BRACKETS.search(key)
    if bracket is not None and bracket[1].lower() in UNITS:
        key = f"{key[: bracket.start()]} {bracket[1]}"
    if "(" in key:  # arms of a comparison (`reward(lag=3)`) are not one run's metric
        return None
    return _named(key, contexts) or _within(key, contexts) or _of_family(key)


def _within(key: str, contexts: Collection[str]) -> Alias | None:
    """Return what `key` names without a first scope that says little, as a less telling spelling, or None.

    Under `loss` stand losses: only what cannot be one is read (`loss/clipfrac`; `loss/entropy` is either).
    """
    scope, slash, rest = key.partition("/")
    found = _named(rest, contexts) if slash and scope.lower() in _table()["scopes"] else None
    if found is None or (scope.lower() in LOSSES and not _NO_LOSS.match(found.metric)):
        return None
    return replace(found, rank=found.rank + SCOPED)


def _named(key: str, contexts: Collection[str]) -> Alias | None:
    """Return what the words of `key` name, or None."""
    words = words_of(key)
    kept, smoothed = without_window(words)
    for some, worse in ((words, 0), (kept, SMOOTHED)) if smoothed else ((words, 0),):
        found = _plain(some, contexts) or _measured(some, contexts)
        if found is not None:
            return replace(found, rank=found.rank + worse)
    return None


def _plain(words: tuple[str, ...], contexts: Collection[str], *, unit: bool = False) -> Alias | None:
    """Return what `words` name; `unit`: a unit that stood among them was taken out."""
    any_k = frozenset("pass@k" if word.startswith("pass@") else word for word in words)
    keeps = _keeps() if any_k <= _known() else ()
    for kept in keeps:
        for rank, entry in _by_words().get(any_k - (_ignored() - kept), ()):
            fits = entry.keep == kept and (not entry.context or entry.context in contexts)
            if fits and (unit or not entry.unit):
                return Alias(entry.metric, "", entry.transform, rank, frozenset(words) - (_ignored() - kept))
    return None


def _measured(words: tuple[str, ...], contexts: Collection[str]) -> Alias | None:
    """Return what `words` name once the unit among them is taken out, in the metric's own unit, or None."""
    for i, word in enumerate(words):
        found = _plain((*words[:i], *words[i + 1 :]), contexts, unit=True) if word in UNITS else None
        transform = scale(word, metrics()[found.metric].unit) if found is not None else None
        if found is not None and transform is not None and not found.transform:
            return replace(found, transform=transform)
    return None


@cache
def _ignored() -> frozenset[str]:
    return frozenset(_table()["ignore"])


@cache
def _known() -> frozenset[str]:
    """Every word that any entry looks at, and those that are ignored."""
    return _ignored().union(*_by_words())


@cache
def _parts() -> frozenset[str]:
    """Every word that a joined word may be made of."""
    more = {word for name in _table()["same"] for word in name.split()}
    return _known().union(more, UNITS)


@cache
def _keeps() -> tuple[frozenset[str], ...]:
    """The sets of words that entries keep although they are ignored elsewhere, the largest first."""
    return tuple(sorted({entry.keep for entry in _entries()}, key=lambda keep: (-len(keep), sorted(keep))))


def _of_family(key: str) -> Alias | None:
    outsiders = frozenset(_table()["no_component"])
    for pattern, metric in _families():
        match = pattern.match(key)
        if match and not outsiders & set(words_of(match["component"])):
            return Alias(metric, match["component"], "", 0, frozenset(words_of(key)))
    return None


@cache
def _readable() -> dict[str, tuple[tuple[frozenset[str], str], ...]]:
    """For each word, the word sets that hold it and the metric that each names."""
    sets = [(words, entry.metric) for entry in _entries() for words in entry.spellings]
    found: dict[str, list[tuple[frozenset[str], str]]] = {}
    for words, metric in [*sets, *((frozenset(words_of(name)), name) for name in metrics())]:
        for word in words:
            found.setdefault(word, []).append((words, metric))
    return {word: tuple(entries) for word, entries in found.items()}


@cache
def guess(key: str) -> str | None:
    """Return the canonical metric whose words are most like those of `key`, for display only, or None."""
    words = frozenset(words_of(key)) - _ignored()
    near = ((_likeness(known, words), name) for word in words for known, name in _readable().get(word, ()))
    likeness, name = max(near, default=(0.0, ""))
    return name if likeness >= NEAR else None


def _likeness(known: frozenset[str], words: frozenset[str]) -> float:
    """Share of common words; a little more where `words` hold all that is `known`."""
    return len(known & words) / len(known | words) + (WHOLE if known <= words else 0.0)
