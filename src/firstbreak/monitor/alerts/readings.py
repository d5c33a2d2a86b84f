"""What is read when somebody asks for the state of a run, and a count of alarms that never falls."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..verdict import Alarm
from .alert import Source

T = TypeVar("T")
AlarmKey = tuple[str, str, str, str]
"""Code, name, link and severity of the rule."""


@dataclass(frozen=True)
class Readings:
    """A `Source` made of two functions, for state that no `Monitor` holds."""

    get_latest: Callable[[], Mapping[str, float]]
    get_alarms: Callable[[], Sequence[Alarm]] = lambda: ()

    @property
    def latest(self) -> Mapping[str, float]:
        """The newest value of every key."""
        return self.get_latest()

    @property
    def alarms(self) -> Sequence[Alarm]:
        """The alarms so far, oldest first."""
        return self.get_alarms()


def latest_of(source: Source | None) -> dict[str, float]:
    """Return a copy of the newest values, though training may add keys while they are copied."""
    return {} if source is None else _undisturbed(lambda: dict(source.latest), {})


def _undisturbed(copy: Callable[[], T], otherwise: T) -> T:
    """Return a copy of something that another thread may change meanwhile."""
    for _ in range(5):
        try:
            return copy()
        except RuntimeError:  # it changed its size
            continue
    return otherwise


class AlarmCount:
    """Counts alarms by rule, link and severity; a monitor that forgets old ones does not make it fall."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: Alarm | None = None
        self._counts: Counter[AlarmKey] = Counter()

    def of(self, source: Source | None) -> dict[AlarmKey, int]:
        """Add the alarms that are new since the last call and return the counts."""
        with self._lock:
            alarms: list[Alarm] = [] if source is None else _undisturbed(lambda: list(source.alarms), [])
            for alarm in reversed(alarms):
                if alarm is self._seen:
                    break
                finding = alarm.finding
                self._counts[finding.rule, finding.name, finding.link.value, finding.severity.value] += 1
            self._seen = alarms[-1] if alarms else self._seen
            return dict(self._counts)
