"""Loads the canonical metric table."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ..errors import UnknownNameError, unknown_name


@dataclass(frozen=True)
class MetricSpec:
    """One canonical metric: its link, unit, hard bounds, which direction is better, and exact meaning.

    `better` is higher, lower or `""`; `family` is the scope field that tells members apart (`component`). `zero` is the
    size up to which a value counts as 0, of what is 0 by construction in a sound loop; NaN of everything else.
    """

    name: str
    link: str
    unit: str
    meaning: str
    lo: float = float("-inf")
    hi: float = float("inf")
    better: str = ""
    family: str = ""
    clock: str = ""
    zero: float = float("nan")


@cache
def metrics() -> dict[str, MetricSpec]:
    """Return every canonical metric by name."""
    table = tomllib.loads(files("firstbreak.vocabulary").joinpath("metrics.toml").read_text("utf-8"))
    return {name: MetricSpec(name=name, **entry) for name, entry in table.items()}


def metric(name: str) -> MetricSpec:
    """Return the canonical metric `name`.

    Raises:
        UnknownNameError: there is none; the hint offers the nearest.
    """
    try:
        return metrics()[name]
    except KeyError:
        error = unknown_name("metric", name, metrics())
        raise UnknownNameError(error.message, error.hint or "List them: firstbreak explain metrics.") from None


@cache
def vocabulary_version() -> str:
    """Return eight hex digits over every vocabulary file: equal versions map keys alike."""
    digest = hashlib.sha256()
    root = files("firstbreak.vocabulary")
    names = sorted(p.name for p in root.joinpath("names").iterdir() if p.name.endswith(".toml"))
    for name in ("metrics.toml", "algorithms.toml", "aliases.toml", "config.toml"):
        digest.update(root.joinpath(name).read_bytes())
    for name in names:
        digest.update(root.joinpath("names").joinpath(name).read_bytes())
    return digest.hexdigest()[:8]
