"""How likely a difference explains a divergence, from the table `weights.toml`."""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ..vocabulary import canonical_config


@dataclass(frozen=True)
class Weight:
    """How much a difference weighs, on which link of the loop it acts, and whether only after a while."""

    weight: float
    link: str = ""
    late: bool = False


@cache
def _table() -> dict[str, dict[str, Weight]]:
    text = files("firstbreak.context").joinpath("weights.toml").read_text("utf-8")
    return {part: {name: Weight(**entry) for name, entry in rows.items()} for part, rows in tomllib.loads(text).items()}


@cache
def canonical_name(key: str) -> str:
    """Return the canonical name of a setting, the key itself where it has none."""
    return next(iter(canonical_config({key: 1})), key)


@cache
def setting_weight(key: str) -> Weight:
    """Return the weight of a setting that differs: by its canonical name, else by a word in its name."""
    named = _table()["setting"].get(canonical_name(key))
    if named is not None:
        return named
    return _matching("word", key.lower(), whole=False) or _table()["setting"]["default"]


@cache
def package_weight(name: str) -> Weight:
    """Return the weight of a package whose version differs."""
    return _matching("package", name.lower(), whole=True) or _table()["package"]["default"]


def kind_weight(kind: str) -> Weight:
    """Return the weight of another kind of difference: reward, data, code, gpu, seed..."""
    return _table()["kind"][kind]


def _matching(part: str, name: str, *, whole: bool) -> Weight | None:
    """Return the weight of the first pattern that matches."""
    for pattern, weight in _table()[part].items():
        if pattern != "default" and (re.fullmatch(pattern, name) if whole else re.search(pattern, name)):
            return weight
    return None


def size_of(a: Any, b: Any) -> float:
    """Return how far two values are apart, from 0.5 for near numbers to 1 for a decade or no numbers at all."""
    if isinstance(a, bool) or isinstance(b, bool) or not (isinstance(a, int | float) and isinstance(b, int | float)):
        return 1.0
    if a == 0 or b == 0 or (a < 0) != (b < 0) or not (math.isfinite(a) and math.isfinite(b)):
        return 1.0
    return 0.5 + 0.5 * min(abs(math.log10(abs(a)) - math.log10(abs(b))), 1.0)


def version_step(a: str, b: str) -> float:
    """Return 1 where the first number of a version differs or one is absent, 0.8 for the second, 0.5 for the rest."""
    x, y = (re.findall(r"\d+", version.partition("+")[0]) for version in (a, b))
    if not x or not y or x[0] != y[0]:
        return 1.0
    return 0.8 if x[1:2] != y[1:2] else 0.5
