"""Whether evaluation runs in the environment that the protocol, and training, name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata

_PAIR = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:==|@|\s)\s*v?(\d[\w.+!-]*)")
_SUFFIX = re.compile(r"(.+?)-v(\d+)")


@dataclass(frozen=True)
class Mismatch:
    """A name whose versions differ."""

    name: str
    wanted: str
    found: str
    """`not installed` where it is missing."""


def versions_in(text: str) -> dict[str, str]:
    """Return package -> version of texts such as `gymnasium 1.2.0, mujoco==3.3.0`."""
    return {match[1].lower().replace("_", "-"): match[2] for match in _PAIR.finditer(text)}


def installed(names: Iterable[str]) -> dict[str, str]:
    """Return package -> version of those packages that are installed here."""
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def mismatches(wanted: Mapping[str, str], found: Mapping[str, str]) -> list[Mismatch]:
    """Return every package of `wanted` that `found` has in another version, or not at all."""
    return [
        Mismatch(name, version, found.get(name, "not installed"))
        for name, version in wanted.items()
        if found.get(name) != version
    ]


def environment_mismatch(train: str, evaluation: str) -> str:
    """Return how two environment ids differ: version, name, or nothing."""
    if train == evaluation:
        return ""
    one, other = _SUFFIX.fullmatch(train), _SUFFIX.fullmatch(evaluation)
    return "version" if one and other and one[1] == other[1] else "name"
