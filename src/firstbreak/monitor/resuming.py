"""What an earlier process recorded of the same run: a monitor that is started again goes on from there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..readers.record_line import FOLDER
from ..runlog import Event, Recording
from ..series import Curve
from .history import History
from .verdict import Action, Alarm

MOST_BYTES = 128 << 20
"""Records larger than this (100,000 rows of 30 metrics) are left alone: reading takes 5 s a 100 MB and two and a half
times their size in memory, and a monitor must not hold up the run that it guards."""
ALARM = "alarm"
"""The name under which a record keeps what was raised."""


@dataclass(frozen=True)
class TakenUp:
    """What was taken over: how many rows, and what had been raised by then."""

    rows: int
    raised: frozenset[str]
    """Names of rules."""

    def news(self, alarms: list[Alarm], action: Action) -> tuple[list[Alarm], Action]:
        """Return the alarms that the earlier process had not raised, and what is asked for because of them."""
        fresh = [alarm for alarm in alarms if alarm.finding.name not in self.raised]
        return fresh, action if fresh else Action.CONTINUE


def earlier(run: Path | None, rank: int | None, fault: Callable[[str], None]) -> Recording | None:
    """Return what was recorded of `run` by processes that are gone; None where there is nothing, or one still writes.

    A record that cannot be read is passed over, and `fault` hears so.
    """
    try:
        return _recorded(run, rank)
    except Exception as error:
        fault(f"the earlier record is not taken up: {type(error).__name__}: {error}")
        return None


def _recorded(run: Path | None, rank: int | None) -> Recording | None:
    folder = None if run is None else run / FOLDER
    if folder is None or not folder.is_dir():
        return None
    from ..readers.protocol import Options
    from ..readers.record import read
    from ..readers.record_parts import merged
    from .record.part import in_use, parts_of

    parts = [path for path in parts_of(folder, rank or 0).values() if path.stat().st_size]
    if not parts or any(in_use(path) for path in parts):
        return None
    size = sum(path.stat().st_size for path in parts)
    if size > MOST_BYTES:
        raise InputError(f"it is {size >> 20} MiB, more than a monitor reads.", "The rules begin anew; see diagnose.")
    return merged([read(path, Options()) for path in parts])[-1]


def take_up(recording: Recording, history: History, at: float) -> TakenUp | None:
    """Give `history` what was recorded before step `at`; None where nothing was: the run begins anew."""
    before = {key: kept for key, curve in recording.curves.items() if len(kept := _before(curve, at))}
    if not before:
        return None
    for key, value in _settings(recording).items():
        history.raw.setdefault(key, value)
    history.clock = history.clock or recording.clock
    history.take_up(before)
    raised: set[str] = set()
    for event in recording.events:
        if event.at < at and event.name != ALARM:
            history.note(event)
        elif event.at < at:
            raised.add(event.text.partition(":")[0])
    history.note(Event("resume", at))
    steps = np.unique(np.concatenate([curve.step for curve in before.values()]))
    return TakenUp(int(steps.size), frozenset(raised))


def _settings(recording: Recording) -> dict[str, Any]:
    return {key: value for key, value in recording.config.items() if value is not None}


def _before(curve: Curve, at: float) -> Curve:
    keep = curve.step < at
    return Curve(curve.step[keep], curve.value[keep], None if curve.wall is None else curve.wall[keep])
