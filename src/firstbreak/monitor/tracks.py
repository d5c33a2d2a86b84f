"""The tracks of all keys, and the rows that some of them have not taken yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..ingest.meaning import EPISODES
from ..series import Confidence, Curve, Floats, Scope, Series, Tally
from ..vocabulary import MappedKey, apply_transform
from .late import LateSeries
from .layouts import Batch
from .shelf import Columns, Shelf
from .track import Columns as Rows
from .track import Track

NO_POINTS = Curve(np.empty(0), np.empty(0))


class Tracks:
    """What came of each key. A track takes its rows when its series is first asked for, or when many wait.

    Args:
        looked_at: Whether a rule may look at a key.
    """

    def __init__(self, looked_at: Callable[[str], bool]) -> None:
        self._looked_at = looked_at
        self._meanings: Mapping[str, MappedKey] = {}
        self._settings: Mapping[str, Any] = {}
        self._tracks: dict[str, Track] = {}
        self._columns: dict[tuple[str, ...], Columns] = {}
        self._shelf = Shelf()
        self._taken: dict[str, int] = {}
        """Key -> batches of the shelf that its track has taken."""
        self._came: dict[str, int] = {}
        """Key -> batches there were when it came last."""
        self._ends: dict[str, float] = {}
        """Key -> position of its newest point; keys that have none are left out."""
        self._forms: dict[str, Series] = {}
        """Key -> its series without points."""
        self._made: dict[str, tuple[int, Series]] = {}
        """Key -> batches there were when it had come last before its series was made, and the series."""

    def mean(self, meanings: Mapping[str, MappedKey], settings: Mapping[str, Any]) -> None:
        """Say what keys mean from now on; rows that were taken before are to be in the tracks."""
        self._meanings, self._settings = meanings, settings
        self.forget_layouts()
        self._forms.clear()
        self._made.clear()

    def forget_layouts(self) -> None:
        """Forget which keys of which rows are looked at."""
        self._columns.clear()

    def take(self, batches: Sequence[Batch]) -> None:
        """Take rows; of each key in the order in which they came."""
        taken = [(batch, self._columns_of(batch.keys)) for batch in batches]
        for batch, columns in sorted(taken, key=lambda one: one[0].number.item(-1)):
            self._shelf.add(batch, columns)
            self._came.update(dict.fromkeys(columns.places, self._shelf.end))
            self._ends.update(dict.fromkeys(columns.places, batch.step.item(-1)))
            self._ends.update(dict.fromkeys(columns.lagging, batch.before.item(-1)))
        if self._shelf.full:
            self.fill()

    def take_up(self, key: str, curve: Curve) -> None:
        """Take what was logged of a key before the first row of this process."""
        number = np.arange(len(curve), dtype=np.float64)
        wall = np.zeros(len(curve)) if curve.wall is None else curve.wall
        before = np.concatenate(([min(0.0, curve.step.item(0))], curve.step[:-1]))
        self._put(key, [(Batch((key,), number, curve.step, before, wall, curve.value[:, None]), 0)])
        self._ends[key] = self._tracks[key].last_step
        self._made.pop(key, None)

    def undo(self, step: float) -> None:
        """Forget everything after `step`."""
        self.fill()
        for track in self._tracks.values():
            track.undo(step)
        self._ends = {key: track.last_step for key, track in self._tracks.items() if len(track)}
        self._made.clear()

    def series(self) -> list[Series]:
        """Return the series of every key that has points, to be asked until the next rows are taken."""
        return [self._series(key) for key in self._tracks if key in self._ends]

    def end(self, key: str) -> float:
        """Return the position of the newest point of a key that has one."""
        return self._ends[key]

    def _columns_of(self, keys: tuple[str, ...]) -> Columns:
        """Return which of `keys` are looked at; each has a track from now on."""
        if keys not in self._columns:
            places = {key: place for place, key in enumerate(keys) if self._looked_at(key)}
            for key in places:
                if key not in self._tracks:
                    self._tracks[key] = self._new_track(key)
            self._columns[keys] = Columns(places, [key for key in places if self._lags(key)])
        return self._columns[keys]

    def fill(self) -> None:
        """Let every track take what is its own."""
        for key in self._tracks:
            self._fill_one(key)
        self._shelf.clear()

    def _fill_one(self, key: str) -> None:
        if self._taken.get(key, 0) < self._came.get(key, 0):
            self._put(key, self._shelf.since(self._taken.get(key, 0), key))
            self._taken[key] = self._shelf.end

    def _put(self, key: str, parts: Sequence[tuple[Batch, int]]) -> None:
        """Add what the waiting rows hold of `key`, in the order in which they came."""
        meaning, lags = self._meanings.get(key), self._lags(key)
        columns = [_column(batch, place, lags=lags) for batch, place in parts]
        step, value, wall = columns[0]
        if len(parts) > 1:  # rows of several layouts alternate
            order = np.argsort(np.concatenate([batch.number for batch, _ in parts]))
            step, value, wall = (np.concatenate(found)[order] for found in zip(*columns, strict=True))
        if meaning is not None and meaning.transform:
            value = apply_transform(meaning.transform, value, self._settings)
        track = self._tracks.get(key)
        if track is None:
            track = self._tracks[key] = self._new_track(key)
        rows = Rows.of(step, value, wall)
        if len(parts) == 1 and parts[0][0].rises:
            track.extend(rows, rises=True)
            return
        for part in _rising(step):
            track.extend(rows.where(part))

    def _lags(self, key: str) -> bool:
        meaning = self._meanings.get(key)
        return meaning is not None and bool(meaning.lag_rows)

    def _new_track(self, key: str) -> Track:
        meaning = self._meanings.get(key)
        return Track(keep_repeats=meaning is not None and meaning.metric in EPISODES)

    def _series(self, key: str) -> Series:
        """Return the series of a key, the same as last time where nothing came since: most rows hold few keys."""
        came = self._came.get(key, 0)
        made = self._made.get(key)
        if made is not None and made[0] == came:
            return made[1]
        if key not in self._forms:
            self._forms[key] = _form(key, self._meanings.get(key))
        series = LateSeries.of(self._forms[key], lambda: self._numbers(key, came))
        self._made[key] = came, series
        return series

    def _numbers(self, key: str, came: int) -> tuple[Curve, Tally, int]:
        """Return curve, tally and `proven` of a key as they were when it had come last in the batch `came`."""
        if self._came.get(key, 0) != came:
            raise RuntimeError(
                f"{key}: a log of an earlier row was asked; take one with `Monitor.run_log()` and keep it"
            )
        self._fill_one(key)
        track = self._tracks[key]
        return *track.curve(), track.proven


def _form(key: str, meaning: MappedKey | None) -> Series:
    """Return the series of a key without its points."""
    if meaning is None:
        return Series("", NO_POINTS, source_key=key)
    return Series(
        metric=meaning.metric,
        curve=NO_POINTS,
        scope=Scope(component=meaning.component),
        source_key=key,
        confidence=Confidence(meaning.confidence),
        estimator=meaning.estimator,
        aggregation=meaning.aggregation,
        transform=meaning.transform,
        note=meaning.note,
    )


def _column(batch: Batch, place: int, *, lags: bool) -> tuple[Floats, Floats, Floats]:
    """Return steps, values and wall times [m] of one key of a batch."""
    return batch.before if lags else batch.step, batch.values[:, place], batch.wall


def _rising(step: Floats) -> list[slice]:
    """Return the stretches in which steps do not decrease."""
    if step.size == 1:  # how nearly all points come where every row is looked at
        return [slice(0, 1)]
    drops = np.flatnonzero(step[1:] < step[:-1]) + 1
    edges = [0, *drops.tolist(), step.size]
    return [slice(a, b) for a, b in pairwise(edges)]
