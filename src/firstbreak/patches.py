"""Remedies as changes to a framework's own configuration, in its own keys, format and version.

The table is `data/patches.toml`; each entry names the source in which its keys were read. A run's framework must be
known; its version is taken from its configuration, or told by the keys found there. Where neither says, every variant
is shown with its versions.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, cast

from .runlog import RunLog

Value = bool | int | float | str | None
FORMATS = ("yaml", "toml", "overrides", "flags", "kwargs")
_PLAIN = re.compile(r"[A-Za-z0-9_.+-]{1,40}")
"""What an old value may look like to be repeated in a patch; anything else is left out."""
SAME_KEYS = {"unsloth": "trl"}
"""Frameworks that are configured through another one's keys."""
MISSING = "\0"
"""Stands for a value that the run's configuration does not let us compute."""
GUESSED = "The run does not state its limit: take more than it is now."
_RELEASE = re.compile(r"v?(\d+(?:\.\d+)*)")


@dataclass(frozen=True)
class Change:
    """One setting: `key` in the framework's spelling and its new `value`; `remove` for a flag that has to go."""

    key: str
    value: Value
    remove: bool = False
    old: Value = None
    known: bool = False
    """Whether the run states the setting now; `old` is what it states."""


@dataclass(frozen=True)
class Patch:
    """A remedy of one `kind` for one framework and range of versions."""

    kind: str
    framework: str
    format: str
    versions: str
    source: str
    note: str
    call: str
    changes: tuple[Change, ...]

    @property
    def title(self) -> str:
        """The framework with the versions for which the keys were read, and the note."""
        head = f"{self.framework} {self.versions}".strip()
        return f"{head} ({self.format}). {self.note}".rstrip(". ")

    @property
    def lines(self) -> tuple[str, ...]:
        """The patch as the lines of a diff: each begins with `+`, `-` or a space."""
        from .patch_text import diff

        return diff(self.format, self.call, self.changes)


@dataclass(frozen=True)
class _Entry:
    kind: str
    framework: str
    format: str
    since: str
    before: str
    told_by: tuple[str, ...]
    algorithm: str
    source: str
    note: str
    call: str
    set: tuple[tuple[str, Any], ...]


@cache
def entries() -> tuple[_Entry, ...]:
    """Return the table, in its order."""
    table = tomllib.loads(files("firstbreak.data").joinpath("patches.toml").read_text("utf-8"))
    return tuple(
        _Entry(
            kind=entry["kind"],
            framework=entry["framework"],
            format=entry["format"],
            since=entry.get("since", ""),
            before=entry.get("before", ""),
            told_by=tuple(entry.get("told_by", ())),
            algorithm=entry.get("algorithm", ""),
            source=entry["source"],
            note=entry.get("note", ""),
            call=entry.get("call", ""),
            set=tuple((key, value) for key, value in entry["set"]),
        )
        for entry in table["patch"]
    )


def kinds() -> frozenset[str]:
    """Return every kind of remedy that has a patch for some framework."""
    return frozenset(entry.kind for entry in entries())


def patches_for(kind: str, log: RunLog) -> tuple[Patch, ...]:
    """Return the patches of a `kind` for the framework and version of `log`, newest first; none where unknown.

    Settings that the run already has are left out, and a patch that changes nothing with them.
    """
    framework = SAME_KEYS.get(log.framework, log.framework)
    fitting = [e for e in entries() if e.kind == kind and framework and e.framework == framework]
    fitting = [e for e in fitting if not e.algorithm or e.algorithm == log.algorithm]
    chosen = _of_version(fitting, version_of(log), log.config)
    made = [_patch(entry, log) for entry in reversed(chosen)]
    return tuple(patch for patch in made if patch.changes)


def version_of(log: RunLog) -> str:
    """Return the framework's version as the run's configuration states it, `""` if it does not."""
    name = log.framework.replace("_", "-")
    wanted = {
        f"{log.framework}_version",
        f"{name}_version",
        f"{name}-version",
        "framework_version",
        log.framework,
        name,
    }
    for key, value in log.config.items():
        if str(key).lower().replace("/", ".").rsplit(".", 1)[-1] in wanted and _RELEASE.match(str(value).strip()):
            return str(value).strip()
    return ""


def release(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version (`v1.0.4+17` is 1, 0, 4), without zeros at the end."""
    match = _RELEASE.match(text)
    numbers = [int(part) for part in match[1].split(".")] if match else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _of_version(fitting: list[_Entry], version: str, config: Mapping[str, Any]) -> list[_Entry]:
    """Return the entries that hold for `version`, else for the one that the run's keys tell of, else all."""
    if version:
        here = release(version)
        return [e for e in fitting if release(e.since) <= here and (not e.before or here < release(e.before))]
    told = [e for e in fitting if _told(e, config)]
    if told or not fitting:
        return told[-1:]
    # A key of one version tells of it for every kind of remedy, not only for the one that sets it.
    known = [e for e in entries() if e.framework == fitting[0].framework and _told(e, config)][-1:]
    return [e for e in fitting if all(_meet(e, other) for other in known)]


def _told(entry: _Entry, config: Mapping[str, Any]) -> bool:
    """Whether the run states a key by which the entry's versions are told."""
    return any(_stated(config, key)[0] for key in entry.told_by)


def _meet(one: _Entry, other: _Entry) -> bool:
    """Whether some version lies in the ranges of both."""
    return all(not a.before or release(b.since) < release(a.before) for a, b in ((one, other), (other, one)))


def _patch(entry: _Entry, log: RunLog) -> Patch:
    changes: list[Change] = []
    guessed = False
    for key, wanted in entry.set:
        known, old = _stated(log.config, key)
        remove = isinstance(wanted, dict) and "remove" in wanted
        value, guess = (None, False) if remove else _value(wanted, log, old)
        in_place = (not known or old is False) if remove else (known and _same(old, value))
        if in_place or value is MISSING:
            continue
        guessed = guessed or guess
        shown = old if known and isinstance(old, bool | int | float) else None
        if known and isinstance(old, str) and _PLAIN.fullmatch(old):
            shown = old
        changes.append(Change(key, value, remove, shown, known and (shown is not None or old is None)))
    if not entry.before:
        versions = f"from v{entry.since}" if entry.since else ""
    else:
        versions = f"v{entry.since} to before v{entry.before}"
    note = f"{GUESSED} {entry.note}".strip() if guessed else entry.note
    return Patch(entry.kind, entry.framework, entry.format, versions, entry.source, note, entry.call, tuple(changes))


def _value(wanted: Any, log: RunLog, old: Any) -> tuple[Value, bool]:
    """Return the plain value that an entry asks for, and whether it is a guess: the run does not state what it is now.

    A multiple is one of the canonical setting, or of the setting's `old` value: twice a limit must never be less.
    """
    if not isinstance(wanted, dict):
        return wanted, False
    asked = cast(dict[str, Any], wanted)
    if "null" in asked:
        return None, False
    for stated in (log.config.get(asked["of"]), old if "times" in asked else None):
        number = _positive(stated)
        if number is not None:
            return int(number * asked.get("times", 1)), False
    return asked.get("or", MISSING), "or" in asked


def _positive(stated: Any) -> float | None:
    """Return a positive number, also one that a configuration holds as text; None for anything else."""
    try:
        number = float(stated) if isinstance(stated, (int, float, str)) and not isinstance(stated, bool) else 0.0
    except ValueError:
        return None
    return number if 0 < number < float("inf") else None


def _same(old: Any, new: Value) -> bool:
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    return old == new or str(old) == str(new)


def _stated(config: Mapping[str, Any], key: str) -> tuple[bool, Any]:
    """Whether `config` states `key`, whole or as the end of a dotted key, and its value."""
    wanted = _parts(key)
    for name, value in config.items():
        parts = _parts(str(name))
        if parts[-len(wanted) :] == wanted or (len(parts) > 1 and wanted[-len(parts) :] == parts):
            return True, _plain(value)
    return False, None


def _plain(value: Any) -> Any:
    text = value.strip().lower() if isinstance(value, str) else ""
    return {"true": True, "false": False, "none": None, "null": None}.get(text, value)


def _parts(key: str) -> tuple[str, ...]:
    return tuple(part.lstrip("-").replace("-", "_").lower() for part in re.split(r"[./]", key))
