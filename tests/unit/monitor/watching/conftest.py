"""A stage on which a writer and a watcher take turns: real files, a clock that only moves when told."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from firstbreak.config import Settings
from firstbreak.monitor.watching.events import Event, Kind, State
from firstbreak.monitor.watching.sources import LocalSource
from firstbreak.monitor.watching.track import Track
from firstbreak.monitor.watching.watcher import Watcher, Wishes

LOGS = Path(__file__).parents[3] / "data" / "logs"
FEW = ("kl-overshoot", "nonfinite-metric", "run-stalled")
"""Rules that run on a stage where nothing else is asked: all of them make a hundred looks slow."""


class Stage:
    """Moves time and files, polls the watcher, and keeps what it told."""

    def __init__(
        self, place: Path, wishes: Wishes | None = None, *, every: bool = False, rules: tuple[str, ...] = FEW
    ) -> None:
        self.time = 1000.0
        self.told: list[Event] = []
        self.processes: set[int] = set()
        self.watcher = Watcher(
            LocalSource(place, every),
            Settings(select=rules),
            wishes or Wishes(),
            clock=lambda: self.time,
            now=self.now,
            work=lambda: 0.0,
            alive=lambda pid: pid in self.processes,
        )

    def now(self) -> float:
        """The wall clock, in seconds since the epoch."""
        return 1_700_000_000.0 + self.time

    def poll(self, after_s: float = 2.0) -> list[Event]:
        """Let time pass, then let the watcher look once."""
        self.time += after_s
        events = self.watcher.poll()
        self.told += events
        return events

    def write(self, path: Path, text: str, mode: str = "a") -> None:
        """Write as a trainer does, now."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode, encoding="utf-8") as stream:
            stream.write(text)
        os.utime(path, (self.now(), self.now()))

    def rows(self, path: Path, rows: Iterable[dict[str, Any]], every_s: float = 2.0) -> list[Event]:
        """Write rows of JSON one by one, with a look after each."""
        seen: list[Event] = []
        for row in rows:
            self.write(path, json.dumps(row) + "\n")
            seen += self.poll(every_s)
        return seen

    @property
    def track(self) -> Track:
        """The one run that is watched."""
        (track,) = self.watcher.tracks.values()
        return track

    @property
    def state(self) -> State:
        """How it is doing."""
        return self.track.state

    def kinds(self, *kinds: Kind) -> list[Event]:
        """What was told of these kinds."""
        return [event for event in self.told if event.kind in kinds]


@pytest.fixture
def logs() -> Path:
    """The recorded logs."""
    return LOGS


@pytest.fixture
def stage() -> Callable[..., Stage]:
    """Make a stage."""
    return Stage


def row(i: int, **changes: float) -> dict[str, Any]:
    """A row of a healthy PPO at update `i`."""
    return {
        "step": i * 1024,
        "losses/policy_loss": -0.01 - 0.001 * (i % 7),
        "losses/value_loss": 1.0 / (1 + i) + 0.01 * (i % 5),
        "losses/entropy": 0.69 - 0.001 * i - 0.0003 * (i % 3),
        "losses/approx_kl": 0.004 + 0.0005 * (i % 6),
        "losses/clipfrac": 0.05 + 0.005 * (i % 4),
        "losses/explained_variance": min(0.9, 0.05 * i) + 0.005 * (i % 3),
        "charts/episodic_return": 20.0 + 3 * i + (i % 4),
        **changes,
    }


@pytest.fixture
def healthy() -> Callable[..., dict[str, Any]]:
    """Make a row of a healthy run."""
    return row
