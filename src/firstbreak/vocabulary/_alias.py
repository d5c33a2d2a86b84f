"""Reads a key's words: quantities that are named plainly, whichever framework logged them."""

from __future__ import annotations

import difflib
import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from ._metrics import metrics

_SPLIT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9@]+")
_FAMILIES = (
    (re.compile(r"^(?:train/)?rewards?[ _/]+(?P<component>[^/]+?)(?:[/ ]+mean)?$"), "reward/component"),
    (re.compile(r"^(?:max_|mean_)?(?P<component>[a-z]+(?:_[a-z]+)*)_reward(?:_func)?(?:/mean)?$"), "reward/component"),
    (re.compile(r"^Episode_Reward/(?P<component>.+)$"), "reward/component"),
    (re.compile(r"^Episode_Termination/(?P<component>.+)$"), "episode/termination"),
)
"""Keys that name one member of a family of metrics."""
_NOT_COMPONENTS = {"train", "training", "eval", "val", "test", "heldout", "mean", "episode", "ep", "std", "task"}


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files("firstbreak.vocabulary").joinpath("aliases.toml").read_text("utf-8"))


@cache
def _entries() -> tuple[tuple[dict[str, Any], tuple[frozenset[str], ...]], ...]:
    return tuple((e, tuple(frozenset(w.split()) for w in e["words"])) for e in _table()["alias"])


def words_of(key: str) -> list[str]:
    """Return the lower-case words of `key`, without an index or parenthesis at its end (`ratio[:,0]`, `x(arm=1)`)."""
    head = re.split(r"[\[(]", key, maxsplit=1)[0]
    return [w.lower() for w in _SPLIT.split(head) if w]


def alias(key: str, language: bool) -> tuple[str, str]:
    """Return (metric, component) that the words of `key` name plainly, or ("", "").

    `language` says that the log is of a language model, where a bare `reward` is the reward of a sequence.
    """
    if "(" in key:  # arms of a comparison (`reward(lag=3)`) are not one run's metric
        return "", ""
    words = words_of(key)
    ignored = set(_table()["ignore"])
    for entry, sets in _entries():
        if entry.get("language") and not language:
            continue
        if entry.get("control") and language:
            continue
        if any(w not in words for w in entry.get("needs", ())) or any(w in words for w in entry.get("forbids", ())):
            continue
        kept = set(entry.get("keep", ()))
        plain = frozenset(w for w in words if w not in ignored or w in kept)
        if plain in sets or (frozenset(words) in sets):
            return entry["metric"], ""
    for pattern, metric in _FAMILIES:
        match = pattern.match(key)
        if match and match["component"].lower() not in _NOT_COMPONENTS:
            return metric, match["component"]
    return "", ""


@cache
def _readable() -> dict[str, str]:
    return {" ".join(words_of(name)): name for name in metrics()}


def guess(key: str) -> str | None:
    """Return the canonical metric whose name is most like `key`, for display only, or None."""
    text = " ".join(words_of(key))
    close = difflib.get_close_matches(text, list(_readable()), n=1, cutoff=0.72)
    return _readable()[close[0]] if close else None
