"""Loads the per-framework name files: what each source key means."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from ._derived import Derived, derived
from ._metrics import metrics


@dataclass(frozen=True)
class KeyName:
    """One source key (`exact`) or pattern of keys and what it means.

    `pattern` is a regular expression that the whole key must match; its group `component` names the member of a family.
    `algorithms` and `given` restrict it to those algorithms and to logs that hold those keys too.
    `timing` is previous_update, before_update or after_update where the row's number is not of the row's own update.
    """

    exact: str
    pattern: str
    metric: str
    transform: str = ""
    estimator: str = ""
    aggregation: str = ""
    timing: str = ""
    algorithms: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Tell:
    """Keys that one algorithm of a framework logs: all of `has`, and none of `lacks`."""

    algorithm: str
    has: tuple[str, ...]
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Framework:
    """One framework's vocabulary.

    `prefixes` may stand before any key (trackers add them); `eval_prefix` stands for `eval_`. `lagging` names the
    algorithms whose keys with timing `previous_update` are one row late. `default_algorithm` is what the framework
    trains when the keys do not say. `signs` are sets of keys (or patterns, which begin with `^`) that nobody else logs
    together. `extends` names the framework whose keys hold here too. `config` gives, for canonical configuration keys,
    the framework's own names, the surest first; `always` what holds for it unless a setting says otherwise. `tells` say
    which algorithm it was where metrics alone do not. `derived` are metrics that it logs in parts.
    `renamed` says of the beginnings of keys in older versions what stands there now.
    """

    name: str
    title: str
    versions: str
    verified: bool
    clock: str
    keys: tuple[KeyName, ...]
    prefixes: tuple[str, ...] = ()
    eval_prefix: str = ""
    lagging: tuple[str, ...] = ()
    default_algorithm: str = ""
    extends: str = ""
    signs: tuple[tuple[str, ...], ...] = ()
    config: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    tells: tuple[Tell, ...] = ()
    always: Mapping[str, Any] = field(default_factory=dict[str, Any])
    derived: tuple[Derived, ...] = ()
    renamed: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    canonical: bool = False
    """Whether every canonical metric is a key of its own name, a member of a family under `<family>/<member>`."""

    def spellings(self, key: str) -> Iterator[str]:
        """Yield `key`, what it is without the prefixes that trackers add, and what it is called now."""
        yield key
        for old, new in self.renamed.items():
            if key.startswith(old):
                yield from (beginning + key[len(old) :] for beginning in new)
        for prefix in self.prefixes:
            if key.startswith(prefix):
                yield key[len(prefix) :]
        if self.eval_prefix and key.startswith(self.eval_prefix):
            yield "eval_" + key[len(self.eval_prefix) :]


@cache
def framework_names() -> tuple[str, ...]:
    """Return the ids of every framework with a name file, sorted."""
    folder = files("firstbreak.vocabulary").joinpath("names")
    return tuple(sorted(p.name.removesuffix(".toml") for p in folder.iterdir() if p.name.endswith(".toml")))


@cache
def framework(name: str) -> Framework:
    """Return the vocabulary of one framework."""
    path = files("firstbreak.vocabulary").joinpath("names").joinpath(f"{name}.toml")
    table = tomllib.loads(path.read_text("utf-8"))
    parent = str(table.get("extends", ""))
    own = tuple(_key(entry) for entry in table["key"]) + (_canonical_keys() if table.get("canonical") else ())
    settings: dict[str, Any] = {**(framework(parent).config if parent else {}), **table.get("config", {})}
    return Framework(
        name=table["framework"],
        title=table["title"],
        versions=table["versions"],
        verified=table["verified"],
        clock=table["clock"],
        keys=own + (framework(parent).keys if parent else ()),
        prefixes=tuple(table.get("prefixes", framework(parent).prefixes if parent else ())),
        eval_prefix=table.get("eval_prefix", framework(parent).eval_prefix if parent else ""),
        lagging=tuple(table.get("lagging", ())),
        default_algorithm=table.get("default_algorithm", framework(parent).default_algorithm if parent else ""),
        extends=parent,
        signs=tuple(tuple(sign) for sign in table.get("signs", ())),
        config={key: (names,) if isinstance(names, str) else tuple(names) for key, names in settings.items()},
        tells=tuple(_tell(entry) for entry in table.get("tell", ())) + (framework(parent).tells if parent else ()),
        renamed={old: tuple(new) for old, new in table.get("renamed", {}).items()},
        derived=tuple(map(derived, table.get("derived", ()))) + (framework(parent).derived if parent else ()),
        always={**(framework(parent).always if parent else {}), **table.get("always", {})},
        canonical=table.get("canonical", False),
    )


def _tell(entry: dict[str, Any]) -> Tell:
    return Tell(entry["algorithm"], tuple(entry["has"]), tuple(entry.get("lacks", ())))


def _canonical_keys() -> tuple[KeyName, ...]:
    return tuple(
        KeyName("", f"^{re.escape(name)}/(?P<component>.+)$", name) if spec.family else KeyName(name, "", name)
        for name, spec in metrics().items()
    )


def _key(entry: dict[str, Any]) -> KeyName:
    return KeyName(
        exact=entry.get("is", ""),
        pattern=entry.get("match", ""),
        metric=entry["metric"],
        transform=entry.get("transform", ""),
        estimator=entry.get("estimator", ""),
        aggregation=entry.get("aggregation", ""),
        timing=entry.get("timing", ""),
        algorithms=tuple(entry.get("algorithms", ())),
        given=tuple(entry.get("given", ())),
        note=entry.get("note", ""),
    )


@cache
def index(name: str) -> tuple[dict[str, tuple[KeyName, ...]], tuple[KeyName, ...]]:
    """Return a framework's exact keys as a table, and its patterns."""
    table: dict[str, list[KeyName]] = {}
    for key in framework(name).keys:
        if key.exact:
            table.setdefault(key.exact, []).append(key)
    patterns = tuple(k for k in framework(name).keys if k.pattern)
    return {k: tuple(v) for k, v in table.items()}, patterns


@cache
def matcher(pattern: str) -> re.Pattern[str]:
    """Return the compiled `pattern`; compiled on first use, since most frameworks' patterns are never asked."""
    return re.compile(pattern)
