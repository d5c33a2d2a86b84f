"""What was logged so far, in bounded memory: a track for each key that means something, and the run they make up."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from ..config import CustomMetric
from ..custom import declare
from ..errors import unknown_name
from ..ingest.clocks import tie
from ..ingest.derived import derived_series, parts
from ..ingest.meaning import Source, chosen
from ..runlog import ClockMap, Event, Recording, RunLog
from ..series import Curve, Series
from ..vocabulary import (
    MappedKey,
    Recognition,
    canonical_config,
    framework_names,
    map_keys,
    metrics,
    recognise,
    usable,
    with_algorithm,
)
from .late import LateLog, LateSeries
from .layouts import Waiting
from .rows import NAN
from .tracks import NO_POINTS, Tracks

MAX_KEYS = 4096
"""Keys that are known, and as many again that mean something and come later: a logger that makes up new keys for ever
must not fill the memory, nor crowd out what the rules look at."""
MAX_EVENTS = 1024
NOTHING = Recognition("", "", True, "", 0.0)


class History:
    """The run so far. Feed it rows with `add`; `log()` returns the `RunLog` that the rules see."""

    def __init__(
        self,
        path: str,
        *,
        algorithm: str = "",
        framework: str = "",
        clock: str = "",
        names: Mapping[str, str] | None = None,
        config: Mapping[str, Any] | None = None,
        custom: Sequence[CustomMetric] = (),
    ) -> None:
        self.path, self.clock, self.framework, self.algorithm = path, clock, framework, algorithm
        self.names, self.custom = dict(names or {}), tuple(custom)
        self._declared = frozenset(one.key for one in self.custom)
        # A metric that does not exist is refused now, not at a row. What is read or imported once is so now, too: the
        # words of keys, and what `numpy.unique` imports when it is first called (5 ms).
        map_keys(["any/key", *self.names], "", "", self.names)
        np.unique(np.empty(0))
        if framework and framework not in framework_names():
            raise unknown_name("framework", framework, framework_names())
        self.raw: dict[str, Any] = {str(key): value for key, value in (config or {}).items()}
        self.events: list[Event] = []
        self.known = NOTHING
        self.settings: dict[str, Any] = {}
        self.version = 0
        """Grows whenever keys or settings become known: what a rule cannot see may have changed."""
        self._waiting = Waiting()
        self._keys: dict[str, None] = {}
        self._stale = True
        self._meanings: dict[str, MappedKey] = {}
        self._parts: dict[str, frozenset[str]] = {}
        """Keys that together make a metric that none of them is, and which."""
        self._tracks = Tracks(self._looked_at)
        self._understand()  # reads the vocabulary now, rather than at the first row

    def configure(self, config: Mapping[str, Any], give_way: bool = False) -> dict[str, Any]:
        """Add settings, with `give_way` only those that are not known under any name; return what was added."""
        if give_way:
            self._understand()
        added = {str(key): value for key, value in config.items() if not (give_way and key in self.settings)}
        self.raw.update(added)
        self._stale = True
        return added

    @property
    def _said(self) -> dict[str, Any]:
        """The settings, with the algorithm that was named outright where that is known."""
        return with_algorithm(self.raw, self.algorithm)

    def add(self, keys: tuple[str, ...], values: Sequence[float], step: float, wall: float) -> None:
        """Take one row; `values` [k] belong to `keys` [k]."""
        if keys not in self._waiting.layouts:
            self._know(keys)
        self._waiting.add(keys, values, step, wall)

    def note(self, event: Event) -> None:
        """Keep an event."""
        if len(self.events) < MAX_EVENTS:
            self.events.append(event)

    def take_up(self, curves: Mapping[str, Curve]) -> None:
        """Take what was logged of each key before the first row of this process."""
        self._keys.update(dict.fromkeys(self._with_room([key for key in curves if key not in self._keys])))
        self._stale = True
        self.flush()
        for key, curve in curves.items():
            if self._looked_at(key):
                self._tracks.take_up(key, curve)
            self._waiting.after(float(curve.step[-1]))

    def cut(self, step: float) -> None:
        """Forget everything after `step`: the run was rolled back to what it was after the row at `step`."""
        self.flush()
        self._tracks.undo(step)
        self._waiting.back_to(step)

    def log(self) -> RunLog:
        """Return the run so far as a post-mortem would read it."""
        log = self.late_log()
        for series in log.series:
            assert series.curve is not None  # put together now: rows that come later are not to be in it
        assert log.clocks is None or log.clocks.clock
        return log

    def late_log(self) -> RunLog:
        """Return the same, to be asked only until the next row comes: its numbers are put together when asked for."""
        self._take()
        series = self._tracks.series()
        named = [s for s in series if s.metric]
        curves = {s.source_key: s.curve for s in series if s.source_key in self._parts}
        named += derived_series(curves, self.known.framework, "", frozenset(s.metric for s in named))
        source = Source(Recording(self.path, "monitor"), 0, named)
        best, spare = chosen([source])
        spare |= {s.source_key: s.curve for s in series if not s.metric}
        unmapped = {key: spare.get(key, NO_POINTS) for key in self._keys if key not in self._meanings}
        clock = self.clock or self.known.clock or "rows"
        log = LateLog(
            path=self.path,
            series=tuple(best),
            unmapped=unmapped | spare,
            config=self.settings,
            framework=self.known.framework,
            algorithm=self.known.algorithm,
            verified=self.known.verified,
            clock=clock,
            events=tuple(self.events),
            state="running",
        )
        ends = [self._tracks.end(s.source_key) if isinstance(s, LateSeries) else s.step.item(-1) for s in best]
        log = LateLog.of(log, max(ends, default=0.0), lambda: _tie(clock, best))
        return declare(log, self.custom) if self.custom else log

    def flush(self) -> None:
        """Put waiting rows into the tracks, giving their keys a meaning first where they are new."""
        self._take()
        self._tracks.fill()

    def _take(self) -> None:
        """Take the rows that wait, giving their keys a meaning first where they are new."""
        if self._stale:
            self._understand()
        self._tracks.take(self._waiting.take())

    @property
    def arrived(self) -> float:
        """Rows that came so far, those at one step counted one by one."""
        return self._waiting.number

    def metrics_of(self, keys: Sequence[str]) -> frozenset[str]:
        """Return the canonical metrics that `keys` stand for."""
        made = (self._parts[key] for key in keys if key in self._parts)
        return frozenset(self._meanings[key].metric for key in keys if key in self._meanings).union(*made)

    @property
    def kept(self) -> Container[str]:
        """The keys that are known so far: each that means something, and of the others those that came early."""
        return self._keys

    def zero(self, key: str) -> float:
        """Return the size up to which values of a key count as 0, where its metric is 0 by construction, else NaN."""
        if self._stale:
            self._understand()
        return metrics()[self._meanings[key].metric].zero if key in self._meanings else NAN

    def meant(self, keys: Sequence[str]) -> list[str]:
        """Return those of `keys` that a rule may look at."""
        if self._stale:
            self._understand()
        return [key for key in keys if self._looked_at(key)]

    def _looked_at(self, key: str) -> bool:
        return key in self._meanings or key in self._declared or key in self._parts

    def _know(self, keys: tuple[str, ...]) -> None:
        """Remember a layout, and take those of its keys that are new."""
        if not self._waiting.room_for(keys):  # put what waits into tracks and start over
            self.flush()
            self._waiting.start_over()
            self._tracks.forget_layouts()
        fresh = self._with_room([key for key in keys if key not in self._keys])
        if fresh:
            self._keys.update(dict.fromkeys(fresh))
            self._stale = True
        self._waiting.know(keys)

    def _with_room(self, fresh: list[str]) -> list[str]:
        """Return those of the new keys that are taken: all while there is room, then only those that mean something."""
        room = MAX_KEYS - len(self._keys)
        if len(fresh) <= room:
            return fresh
        known = self.known if self.known.framework else recognise(fresh, self._said, self.framework)
        found = map_keys(fresh, known.framework, known.algorithm, self._own(fresh), self.settings)
        meant = [key for key in fresh if key in found or key in self._declared][: room + MAX_KEYS]
        idle = [key for key in fresh if key not in found and key not in self._declared]
        return meant + idle[: max(0, room - len(meant))]

    def _understand(self) -> None:
        keys = list(self._keys)
        said = self._said
        self.known = recognise(keys, said, self.framework)
        self.settings = {**said, **canonical_config(said, self.known.framework)}
        found = map_keys(keys, self.known.framework, self.known.algorithm, self._own(keys), self.settings)
        self._tracks.fill()  # what was taken keeps the meaning that it had
        self._meanings = {key: meaning for key, meaning in found.items() if usable(meaning, self.settings)}
        metrics = frozenset(meaning.metric for meaning in self._meanings.values())
        self._parts = parts(keys, self.known.framework, metrics)
        self._tracks.mean(self._meanings, self.settings)
        self._stale = False
        self.version += 1

    def _own(self, keys: Sequence[str]) -> dict[str, str]:
        return {key: self.names[key] for key in keys if key in self.names}


def _tie(clock: str, series: Sequence[Series]) -> ClockMap | None:
    walls = [float(s.wall[0]) for s in series if s.wall is not None and len(s)]
    return tie(clock, series, [s.curve for s in series], min(walls, default=float("nan")))
