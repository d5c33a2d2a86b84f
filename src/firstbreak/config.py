"""The user's settings: which rules speak, with which parameters, what is ignored and why, what custom keys mean.

Read from `firstbreak.toml`, or from `[tool.firstbreak]` in `pyproject.toml`, of the nearest folder upward.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, cast

from .errors import ConfigError, UnreadableError, unknown_name
from .finding import Finding, Link, Severity
from .registry import all_rules, find_rule
from .rule import Rule, Status


@dataclass(frozen=True)
class Ignore:
    """A suppression: findings of `rule` in runs whose path matches `run` count for nothing, for this `reason`."""

    rule: str
    reason: str
    run: str = "*"
    expires: date | None = None


@dataclass(frozen=True)
class CustomMetric:
    """What a user says of a metric that firstbreak does not know; generic rules then apply to it.

    `better` is higher, lower or `""`; `lo` and `hi` are hard bounds.
    """

    key: str
    link: Link | None = None
    better: str = ""
    lo: float = float("-inf")
    hi: float = float("inf")


@dataclass(frozen=True)
class Settings:
    """Everything that can be set; the defaults run every rule with its own parameters."""

    select: tuple[str, ...] = ()
    ignore: tuple[Ignore, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Source key -> canonical metric."""
    custom: tuple[CustomMetric, ...] = ()
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """Rule name -> parameter -> value."""
    severity: Mapping[str, Severity] = field(default_factory=dict[str, Severity])
    preflight: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What `firstbreak preflight` inspects before training; see `firstbreak.preflight.checklist.settings`."""
    source: str = ""


def find_settings(start: Path) -> Settings:
    """Return the settings that apply to `start`: the nearest firstbreak.toml or pyproject.toml upward, or defaults."""
    try:
        folder = start.resolve() if start.is_dir() else start.resolve().parent
    except (OSError, RuntimeError):  # links that lead in a circle: reading the log says so
        return Settings()
    for place in (folder, *folder.parents):
        own = place / "firstbreak.toml"
        if _is_file(own):
            return read_settings(own)
        project = place / "pyproject.toml"
        if _is_file(project) and "firstbreak" in _load(project).get("tool", {}):
            return read_settings(project)
    return Settings()


def _is_file(path: Path) -> bool:
    """Whether `path` is a file that can be seen; a folder that may not be entered holds no settings for this user."""
    try:
        return path.is_file()
    except OSError:
        return False


def read_settings(path: Path) -> Settings:
    """Read the settings in `path`.

    Raises:
        ConfigError: a key or value is wrong; UnknownNameError: a rule or metric does not exist.
    """
    document = _load(path)
    table = document.get("tool", {}).get("firstbreak", {}) if path.name == "pyproject.toml" else document
    _only(path, "settings", table, ("select", "ignore", "names", "metrics", "rules", "severity", "preflight"))
    if not isinstance(table.get("preflight", {}), dict):
        raise ConfigError(
            f"{path}: preflight is no table.", 'Write [preflight], and below it environment = "CartPole-v1".'
        )
    try:
        return Settings(
            select=_selected(table.get("select", [])),
            ignore=tuple(_ignore(path, entry) for entry in table.get("ignore", ())),
            names=dict(table.get("names", {})),
            custom=tuple(_custom(path, key, entry) for key, entry in table.get("metrics", {}).items()),
            params={find_rule(name).name: dict(entry) for name, entry in table.get("rules", {}).items()},
            severity={find_rule(name).name: Severity(value) for name, value in table.get("severity", {}).items()},
            preflight=dict(table.get("preflight", {})),
            source=str(path),
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise ConfigError(f"{path}: {error}.", "See `firstbreak explain settings` or docs/settings.md.") from error


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}.", "Does the file exist, and may you read it?") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}.", "Mend the file, or run elsewhere.") from error


def _ignore(path: Path, entry: Any) -> Ignore:
    typed = _table(entry)
    if not (isinstance(typed.get("rule"), str) and typed.get("reason")):
        raise ConfigError(
            f"{path}: an ignore entry needs a rule and a reason.",
            'Write a line [[ignore]], and below it rule = "reward-flat" and reason = "sparse by design".',
        )
    _only(path, f"ignore of {typed['rule']}", typed, ("rule", "reason", "run", "expires"))
    expires = typed.get("expires")
    if isinstance(expires, datetime):
        expires = expires.date()
    if not isinstance(expires, date | None):
        raise ConfigError(f"{path}: expires = {expires!r} is not a date.", "Write it without quotes: 2027-01-31")
    return Ignore(find_rule(typed["rule"]).name, str(typed["reason"]), str(typed.get("run", "*")), expires)


def _custom(path: Path, key: str, entry: Any) -> CustomMetric:
    typed = _table(entry)
    if not typed:
        raise ConfigError(f"{path}: metric {key!r} needs a table.", 'Write: [metrics."my/key"] link = "critic"')
    _only(path, f"metric {key!r}", typed, ("link", "better", "lo", "hi"))
    link = Link(typed["link"]) if "link" in typed else None
    better, lo, hi = typed.get("better", ""), float(typed.get("lo", "-inf")), float(typed.get("hi", "inf"))
    if better not in {"higher", "lower", ""}:
        raise ConfigError(f"{path}: metric {key!r}: better = {better!r}.", 'It is "higher" or "lower".')
    if not lo <= hi:
        raise ConfigError(f"{path}: metric {key!r}: its bounds {lo:g} and {hi:g} leave no room.", "Swap lo and hi.")
    return CustomMetric(key, link, better, lo, hi)


def _only(path: Path, what: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Refuse a key that is not among `known`: a misspelt one would be a setting that silently does nothing."""
    for key in table:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            raise ConfigError(f"{path}: {what}: unknown key {key!r}.", f"{hint}Known keys: {', '.join(known)}.")


def _selected(names: Any) -> tuple[str, ...]:
    if not isinstance(names, list):
        raise TypeError('select must be a list of rules, for example ["kl-overshoot", "EXP001"]')
    return tuple(find_rule(str(name)).name for name in cast("list[Any]", names))


def _table(entry: Any) -> dict[str, Any]:
    """Return `entry` as a dictionary, empty when it is not a TOML table."""
    return cast(dict[str, Any], entry) if isinstance(entry, dict) else {}


def chosen_rules(settings: Settings) -> tuple[Rule, ...]:
    """Return the rules to run: all or the selected, with the user's parameters and severities in place."""
    rules = [r for r in all_rules() if not settings.select or r.name in settings.select]
    return tuple(_tuned(rule, settings) for rule in rules)


def _tuned(rule: Rule, settings: Settings) -> Rule:
    changes = settings.params.get(rule.name)
    if changes:
        known = [f.name for f in fields(rule.params)]
        for name in changes:
            if name not in known:
                raise unknown_name(f"parameter of {rule.name}", name, known)
            _check_kind(rule, name, changes[name], settings)
        values = {name: tuple(cast("list[Any]", v)) if isinstance(v, list) else v for name, v in changes.items()}
        rule = replace(rule, params=replace(rule.params, **values))
    severity = settings.severity.get(rule.name)
    if severity is None:
        return rule
    # Whoever says how much a preview rule matters to them has it speak as any other.
    return replace(rule, severity=severity, status=Status.STABLE if rule.status is Status.PREVIEW else rule.status)


def _check_kind(rule: Rule, name: str, value: Any, settings: Settings) -> None:
    """Refuse a parameter of another type than its default; a whole number may stand for a fraction."""
    default = getattr(rule.params, name)
    kind: str = type(default).__name__
    allowed = {"float": {"int", "float"}, "tuple": {"list", "tuple"}}.get(kind, {kind})
    if type(value).__name__ not in allowed:
        raise ConfigError(
            f"{settings.source or 'settings'}: {rule.name}: {name} = {value!r} is not of type {kind}.",
            f"Its default is {default!r}.",
        )


def suppress(finding: Finding, run: str, settings: Settings, today: date) -> Finding:
    """Return `finding`, marked with the user's reason where an unexpired ignore entry matches it."""
    for entry in settings.ignore:
        live = entry.expires is None or entry.expires >= today
        if live and entry.rule == finding.name and fnmatch(run, entry.run):
            return replace(finding, ignored=entry.reason)
    return finding
