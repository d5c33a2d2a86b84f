"""A run as it was logged: `Recording` (one source, its own keys) and `RunLog` (canonical series and the rest).

Readers make recordings; `firstbreak.ingest` merges those of one run and gives the keys their meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .series import WHOLE_RUN, Curve, Scope, Series

CLOCKS: tuple[str, ...] = ("updates", "env_steps", "seconds", "rows")


@dataclass(frozen=True)
class Problem:
    """Something that could not be read, and what was kept: shown, never swallowed."""

    path: str
    where: str
    what: str
    remedy: str = ""

    def __str__(self) -> str:
        place = f"{self.path}, {self.where}" if self.where else self.path
        return f"{place}: {self.what}" + (f" {self.remedy}" if self.remedy else "")


CRASHED = "crashed"
"""Name of the event that training ended with an exception; its text is the exception's type, and where its message
speaks of a number that is not finite, `NOT_FINITE`. The message itself is not kept: it may hold anything."""
NOT_FINITE = "(not finite)"


@dataclass(frozen=True)
class Event:
    """Something that happened at one moment: resume, restart, alert, end."""

    name: str
    at: float
    text: str = ""


@dataclass(frozen=True)
class Phase:
    """A stretch [lo, hi] of the run's clock in which statistics may be pooled (warm-up, curriculum stage, ...)."""

    name: str
    lo: float
    hi: float


@dataclass
class Recording:
    """What one source holds, under the source's own keys.

    `clock` is what the source's step axis counts when the format itself fixes it (`""` when the framework decides);
    `ended` is how the source says it ended: `finished`, `crashed` or `""`.
    """

    path: str
    reader: str
    curves: dict[str, Curve] = field(default_factory=dict[str, Curve])
    config: dict[str, Any] = field(default_factory=dict[str, Any])
    texts: dict[str, str] = field(default_factory=dict[str, str])
    events: list[Event] = field(default_factory=list[Event])
    problems: list[Problem] = field(default_factory=list[Problem])
    samples: list[str] = field(default_factory=list[str])
    """Paths of behaviour samples that lie beside the metrics (completions, rollouts)."""
    framework: str = ""
    """Set when the format belongs to one framework (trainer_state.json, progress.csv of SB3)."""
    clock: str = ""
    rank: str = ""
    """The rank that wrote it, where several wrote a record each; `""` stands for the whole run, and for rank 0."""
    run_name: str = ""
    ended: str = ""
    proven: dict[str, int] = field(default_factory=dict[str, int])
    """Key -> finite numbers on end that it began with before a roll-back; see `Series.proven`."""
    modified: float = 0.0
    """Newest modification time of the files read, in seconds since the epoch."""

    @property
    def points(self) -> int:
        """Number of points over all curves."""
        return sum(len(curve) for curve in self.curves.values())


@dataclass(frozen=True)
class ClockMap:
    """Ties the run's clock to the others: `at` [n] on `clock`, and the same moments in `others[name]` [n].

    All arrays are non-decreasing.
    """

    clock: str
    at: np.ndarray[Any, np.dtype[np.float64]]
    others: Mapping[str, np.ndarray[Any, np.dtype[np.float64]]]

    def convert(self, position: float, to: str) -> float | None:
        """Return `position` (on `clock`) on the clock `to`, by interpolation; None where they are not tied."""
        if to == self.clock:
            return position
        other = self.others.get(to)
        if other is None or self.at.size < 2:
            return None
        return float(np.interp(position, self.at, other))


@dataclass(frozen=True)
class Provenance:
    """Where the numbers come from: files read, files left and why."""

    read: tuple[str, ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    readers: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Departure:
    """A metric that left what healthy runs show: within [lo, hi] of the run's clock, known for sure from `known` on.

    `value` is the run's level there, `low` and `high` end the healthy band; `size` is the largest distance from the
    band's middle over the whole run, in half widths of the band.
    """

    metric: str
    scope: Scope
    link: str
    lo: float
    hi: float
    known: float
    value: float
    low: float
    high: float
    size: float


@dataclass(frozen=True)
class Against:
    """A run held against healthy runs of the same task: how many, how many metrics they share, and which left."""

    runs: int
    compared: int
    departures: tuple[Departure, ...] = ()
    settings: tuple[str, ...] = ()
    """Settings of the run that no healthy run has, as `key value`."""


@dataclass(frozen=True)
class RunLog:
    """A whole run: canonical series, what could not be mapped, configuration, clocks, phases, provenance.

    `framework` and `algorithm` are `""` when not recognised. `state` is running, stalled, finished, crashed or `""`.
    """

    path: str
    series: tuple[Series, ...] = ()
    unmapped: Mapping[str, Curve] = field(default_factory=dict[str, Curve])
    guesses: Mapping[str, str] = field(default_factory=dict[str, str])
    """For each unmapped key, the canonical metric it resembles, if any."""
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Canonical configuration keys (see `firstbreak.vocabulary.config_keys`) and the source's own, both."""
    framework: str = ""
    algorithm: str = ""
    verified: bool = True
    """False when no log made by the real package was ever read with this vocabulary."""
    clock: str = "rows"
    clocks: ClockMap | None = None
    phases: tuple[Phase, ...] = ()
    events: tuple[Event, ...] = ()
    samples: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    state: str = ""
    against: Against | None = None
    """How it stands against healthy runs, where some were given (see `firstbreak.departure`)."""

    def get(self, metric: str, scope: Scope = WHOLE_RUN) -> Series | None:
        """Return the series of `metric` with exactly this `scope`, or None."""
        return self.under(scope).get(metric)

    def under(self, scope: Scope) -> Mapping[str, Series]:
        """Return the series with exactly this `scope`, by metric."""
        return self._index.get(scope, {})

    @cached_property
    def _index(self) -> dict[Scope, dict[str, Series]]:
        found: dict[Scope, dict[str, Series]] = {}
        for series in self.series:
            found.setdefault(series.scope, {}).setdefault(series.metric, series)
        return found

    def scopes(self, metric: str) -> tuple[Scope, ...]:
        """Return the scopes under which `metric` was logged, sorted."""
        return self._scopes.get(metric, ())

    @cached_property
    def _scopes(self) -> dict[str, tuple[Scope, ...]]:
        found: dict[str, list[Scope]] = {}
        for series in self.series:
            found.setdefault(series.metric, []).append(series.scope)
        return {metric: tuple(sorted(scopes)) for metric, scopes in found.items()}

    @cached_property
    def divided(self) -> bool:
        """Whether a policy, an agent or a rank logged a metric of its own."""
        return any(scope != WHOLE_RUN and not scope.component for scope in self._index)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The canonical metrics present, sorted, without repeats."""
        return tuple(sorted({s.metric for s in self.series}))

    @cached_property
    def last_step(self) -> float:
        """The largest position on the run's clock, 0 for an empty log."""
        return max((float(s.step[-1]) for s in self.series if len(s)), default=0.0)
