"""The rules, asked about a log and about what is the same log but for its settings or the healthy runs beside it.

A rule is a pure function of what it reads. What it says of a log therefore holds of another one that differs only in
what it did not read: without the task's name, or beside healthy runs, a few rules of hundreds are asked anew. Which
settings a rule read is noted while it is asked. Nothing is carried from one run to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from firstbreak.engine import Outcome, prefixes_of, run_rule, run_rules
from firstbreak.rule import Rule
from firstbreak.runlog import ClockMap, RunLog
from firstbreak.series import Series

HELD_AGAINST = "-departs"
"""How the names of the rules end that read `RunLog.against`."""
EVERYTHING = "*"
"""Noted where a rule went through all settings."""
PLAIN = ("framework", "algorithm", "verified", "clock", "phases", "events", "state")


class Noted(Mapping[str, Any]):
    """Settings that note in `read` which of them were asked for, be they there or not."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self.read: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return self._settings[key]

    def get(self, key: str, default: Any = None) -> Any:
        self.read.add(key)
        return self._settings.get(key, default)

    def __iter__(self) -> Iterator[str]:
        self.read.add(EVERYTHING)
        return iter(self._settings)

    def __len__(self) -> int:
        self.read.add(EVERYTHING)
        return len(self._settings)


class Asked:
    """What `rules` say of `log`; `of` gives what they say of another log, and asks only where that may differ."""

    def __init__(self, log: RunLog, rules: Sequence[Rule]) -> None:
        self.log, self.rules = log, rules
        self.outcomes: list[Outcome] = []
        self.read: dict[str, frozenset[str]] = {}
        """The settings that each rule read."""
        noted = Noted(log.config)
        pooled, phased = prefixes_of(replace(log, config=noted))
        for rule in rules:
            noted.read.clear()
            self.outcomes.append(run_rule(rule, pooled if rule.across_phases else phased))
            self.read[rule.name] = frozenset(noted.read)

    def of(self, log: RunLog) -> list[Outcome]:
        """Return what the rules say of `log`, in their order."""
        again = self.concerned(log)
        anew = dict(zip((rule.name for rule in again), run_rules(log, again) if again else [], strict=True))
        return [anew.get(outcome.rule.name, outcome) for outcome in self.outcomes]

    def concerned(self, log: RunLog) -> list[Rule]:
        """Return the rules that may say something else of `log`: all of them where it is another run."""
        if not alike(self.log, log):
            return list(self.rules)
        changed = {EVERYTHING, *unlike(self.log.config, log.config)}
        held = log.against is not self.log.against
        return [r for r in self.rules if self.read[r.name] & changed or (held and r.name.endswith(HELD_AGAINST))]


def unlike(one: Mapping[str, Any], other: Mapping[str, Any]) -> set[str]:
    """Return the settings that two logs do not share."""
    nothing = object()
    return {key for key in {*one, *other} if repr(one.get(key, nothing)) != repr(other.get(key, nothing))}


def alike(one: RunLog, other: RunLog) -> bool:
    """Whether two logs are the same to a rule but for their settings and the healthy runs beside them."""
    if any(getattr(one, name) != getattr(other, name) for name in PLAIN) or not _same_clocks(one.clocks, other.clocks):
        return False
    if len(one.series) != len(other.series):
        return False
    return all(a is b or _same_series(a, b) for a, b in zip(one.series, other.series, strict=True))


def _same_series(one: Series, other: Series) -> bool:
    if replace(one, curve=other.curve) != other:
        return False
    return all(_same(getattr(one.curve, part), getattr(other.curve, part)) for part in ("step", "value", "wall"))


def _same_clocks(one: ClockMap | None, other: ClockMap | None) -> bool:
    if one is None or other is None:
        return one is other
    if one.clock != other.clock or one.others.keys() != other.others.keys() or not _same(one.at, other.at):
        return False
    return all(_same(one.others[name], other.others[name]) for name in one.others)


def _same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other, equal_nan=True)
