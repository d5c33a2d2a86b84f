"""What tells one configuration from another, one setting at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, cast


class _Absent:
    """The value of a setting that a configuration does not have."""

    def __repr__(self) -> str:
        return "(not set)"


ABSENT: Any = _Absent()
"""Stands where a configuration has no such setting."""


@dataclass(frozen=True)
class Difference:
    """One setting that two configurations do not share; `path` leads to it from the top."""

    path: tuple[str, ...]
    good: Any
    """In the configuration that is known to work."""
    bad: Any
    """In the one that shows the symptom."""

    @property
    def key(self) -> str:
        """The path in dots."""
        return ".".join(self.path)

    def __str__(self) -> str:
        return f"{self.key}: {self.good!r} -> {self.bad!r}"


def differences(bad: Mapping[str, Any], good: Mapping[str, Any]) -> tuple[Difference, ...]:
    """Return every setting in which `bad` differs from `good`, in the order of `bad`, then what it lacks.

    Sections are compared setting by setting; lists count as one setting.
    """
    return tuple(_walk(bad, good, ()))


def _walk(bad: Mapping[str, Any], good: Mapping[str, Any], path: tuple[str, ...]) -> Iterable[Difference]:
    for key in [*bad, *(key for key in good if key not in bad)]:
        here = (*path, str(key))
        old, new = good.get(key, ABSENT), bad.get(key, ABSENT)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _walk(cast("Mapping[str, Any]", new), cast("Mapping[str, Any]", old), here)
        elif fingerprint(old) != fingerprint(new):
            yield Difference(here, old, new)


def applied(good: Mapping[str, Any], chosen: Iterable[Difference]) -> dict[str, Any]:
    """Return `good` with the chosen settings as they are in the bad configuration; neither is changed."""
    made: dict[str, Any] = deepcopy(dict(good))
    for difference in chosen:
        place = made
        for part in difference.path[:-1]:
            place = place.setdefault(part, {})
        if difference.bad is ABSENT:
            place.pop(difference.path[-1], None)
        else:
            place[difference.path[-1]] = deepcopy(difference.bad)
    return made


def with_value(config: Mapping[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Return `config` with one setting changed."""
    return applied(config, [Difference(path, ABSENT, value)])


def value_at(config: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """Return a setting, `ABSENT` where there is none."""
    place: Any = config
    for part in path:
        if not isinstance(place, Mapping) or part not in place:
            return ABSENT
        place = cast("Mapping[str, Any]", place)[part]
    return place


def fingerprint(value: Any) -> str:
    """Return a text that is equal exactly for equal settings: True is not 1, and 1 is not 1.0."""
    return json.dumps(value, sort_keys=True, default=repr)
