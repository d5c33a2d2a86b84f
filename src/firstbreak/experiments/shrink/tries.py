"""Tries of configurations: every run is made once, written down at once, and never made again."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ...errors import FirstbreakError, InputError
from .differences import fingerprint
from .sequential import Sequential

Shows = Callable[[Mapping[str, Any], int], "bool | None"]
"""Configuration, seed -> whether the run showed the symptom; None where it ended in another way."""


class Spent(FirstbreakError):
    """The budget is spent: the search ends with what it has."""

    kind = "budget_spent"


@dataclass(frozen=True)
class Budget:
    """What a search may use, runs that were made before not counted."""

    runs: int = 200
    """Engineering default."""
    seconds: float = 3600.0
    """Engineering default."""


@dataclass(frozen=True)
class Tried:
    """What the runs of one configuration said."""

    shows: bool
    shown: int
    """Runs that showed the symptom."""
    runs: int
    unresolved: int = 0
    """Runs that ended in another way; they count as not showing it."""
    decided: bool = True
    """False when the seeds did not suffice for a decision: it then counts as not showing it."""


class Tries:
    """Runs a configuration until a test decides; remembers every run, also from one process to the next."""

    def __init__(
        self, shows: Shows, budget: Budget, *, journal: Path | None = None, tell: Callable[[str], None] | None = None
    ) -> None:
        self._shows, self._budget, self._journal = shows, budget, journal
        self._tell = tell or _silent
        self._known: dict[tuple[str, int], bool | None] = {}
        self.runs = 0
        """Runs made now."""
        self.recalled = 0
        """Runs that were made before and are not made again."""
        self._began = time.monotonic()
        if journal is not None and journal.exists():
            _mend(journal)
            self._known = dict(_read(journal))
            self.recalled = len(self._known)

    @property
    def ended(self) -> str:
        """How the last run ended that was no answer, where the test says so."""
        return str(getattr(self._shows, "ended", ""))

    def one(self, config: Mapping[str, Any], seed: int) -> bool | None:
        """Return whether one run shows the symptom.

        Raises:
            Spent: the run was not made before, and the budget has no room for it.
        """
        key = (fingerprint(config), seed)
        if key not in self._known:
            spent_s = time.monotonic() - self._began
            if self.runs >= self._budget.runs or spent_s > self._budget.seconds:
                raise Spent(
                    f"The budget is spent after {self.runs} runs and {spent_s:.0f} s.", "Run it again to go on."
                )
            outcome = self._shows(config, seed)
            self.runs += 1
            self._known[key] = outcome
            self._write(key, outcome)
            said = {True: "shows it", False: "does not", None: "ended in another way"}[outcome]
            self._tell(f"run {self.runs}, seed {seed}: {said}")
        return self._known[key]

    def count(self, config: Mapping[str, Any], seeds: Iterator[int] | range) -> Tried:
        """Run every seed."""
        outcomes = [self.one(config, seed) for seed in seeds]
        shown = sum(o is True for o in outcomes)
        return Tried(shown > len(outcomes) / 2, shown, len(outcomes), sum(o is None for o in outcomes))

    def judge(self, config: Mapping[str, Any], test: Sequential, first_seed: int) -> Tried:
        """Run seed after seed, from `first_seed`, until `test` decides or has seen enough."""
        outcomes: list[bool | None] = []
        for seed in range(first_seed, first_seed + test.most_seeds):
            outcomes.append(self.one(config, seed))
            decision = test.decide(o is True for o in outcomes)
            if decision is not None:
                break
        else:
            decision = None
        shown = sum(o is True for o in outcomes)
        lost = sum(o is None for o in outcomes)
        return Tried(bool(decision), shown, len(outcomes), lost, decided=decision is not None)

    def _write(self, key: tuple[str, int], outcome: bool | None) -> None:
        if self._journal is None:
            return
        self._journal.parent.mkdir(parents=True, exist_ok=True)
        with self._journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"config": key[0], "seed": key[1], "shows": outcome}) + "\n")
            file.flush()
            os.fsync(file.fileno())


def _silent(line: str) -> None:
    del line


def _mend(journal: Path) -> None:
    """Cut off a last line that was never finished, so that the next one does not become a part of it."""
    data = journal.read_bytes()
    if data and not data.endswith(b"\n"):
        next(_read(journal), None)  # refuses a file that is something else before it is touched
        os.truncate(journal, data.rfind(b"\n") + 1)


def _read(journal: Path) -> Iterator[tuple[tuple[str, int], bool | None]]:
    """Return the runs of a journal; a last line that was cut short is passed over."""
    *lines, tail = journal.read_text("utf-8", errors="replace").split("\n")
    if not lines and tail and not tail.startswith('{"config"'):
        lines = [tail]
    for number, line in enumerate(lines, start=1):
        try:
            entry = cast("dict[str, Any]", json.loads(line))
            config, seed, shows = entry["config"], entry["seed"], entry["shows"]
            if not (isinstance(config, str) and isinstance(seed, int) and shows in (True, False, None)):
                raise TypeError
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{journal}, line {number}: this is no journal of trials.", "Move the file away to begin anew."
            ) from error
        yield (config, seed), shows
