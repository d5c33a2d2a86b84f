"""`Recorder`: what a monitor sees, in a local store that a crash cannot corrupt."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...finding import Finding
from ...readers.credentials import without_credentials
from ...readers.record_line import FOLDER, FORMAT, seal
from ..verdict import Alarm
from .lines import RowWriter, body, of_alarm, of_finding, plain
from .store import Store


class Recorder:
    """Writes the record of one process of a run to `<folder>/firstbreak/record-<rank>-<part>.jsonl`.

    Every process, restart and forked child writes a part of its own, so nothing is locked or shared. The file is opened
    with the first line. What `metrics` has returned from is in the file (unless `buffer_rows` or `fault` say otherwise)
    and survives the death of the process; the death of the machine may take what the system had not yet put on the
    disk. 30 metrics take about 1.3 kB.

    Args:
        folder: The run's folder.
        rank: This process among many; None when there is one.
        run: A name for the run, kept as it is.
        framework: Whose keys are recorded (`stable_baselines3`, `trl` ...), where that is known.
        algorithm: What is trained, where that is known.
        clock: What `step` counts: updates, env_steps, seconds or rows.
        buffer_rows: Lines gathered before they are written together; 1 writes each at once.
        told: Hears one sentence when recording stops, and when it goes on.
        now: Seconds since the epoch; replaced in tests.

    Raises:
        InputError: a rank below 0.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        rank: int | None = None,
        run: str = "",
        framework: str = "",
        algorithm: str = "",
        clock: str = "",
        buffer_rows: int = 1,
        told: Callable[[str], None] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        if rank is not None and rank < 0:
            raise InputError(f"rank = {rank} is none.", "Ranks count from 0; None where there is one process.")
        self.folder = Path(folder) / FOLDER
        self.rank = rank
        self._about = {"run": run, "framework": framework, "algorithm": algorithm, "clock": clock}
        self._buffer_rows, self._told, self._now = buffer_rows, told, now
        self._start()
        atexit.register(self._at_exit)

    def _start(self) -> None:
        self._pid = os.getpid()
        self._process = os.urandom(6).hex()
        self._seq = 0
        self._lock = threading.Lock()
        self._rows = RowWriter()
        self._store = Store(self.folder, self.rank or 0, self._head, self._say, self._buffer_rows)

    def _say(self, sentence: str) -> None:
        if self._told is not None:
            try:
                self._told(sentence)
            except Exception:  # a listener's fault is no reason to stop training
                self._told = None

    def _head(self, beside: tuple[str, ...]) -> bytes:
        first = {"format": FORMAT, "rank": self.rank, "pid": self._pid, "process": self._process}
        return seal(body(0, "start", {**first, "wall": self._now(), "beside": list(beside), **self._about}))

    @property
    def path(self) -> Path | None:
        """The file that is written now, None before the first line."""
        return None if self._store.part is None else self._store.part.path

    @property
    def fault(self) -> str:
        """Why nothing can be written at present, `""` when all is well."""
        return self._store.fault

    @property
    def lost(self) -> int:
        """Lines that were given up because nothing could be written for too long."""
        return self._store.lost

    @property
    def dropped(self) -> int:
        """Values that were left out because they were no numbers."""
        return self._rows.dropped

    def metrics(self, row: Mapping[str, float], step: float, wall: float | None = None, clock: str = "") -> int:
        """Record one row of metrics under the user's own keys; returns its sequence number in this process.

        `clock` says what `step` counts where that differs from the recorder's own.
        """
        if os.getpid() != self._pid:
            self._reborn()
        with self._lock:
            self._seq += 1
            moment = self._now() if wall is None else wall
            self._store.append(seal(self._rows.body(self._seq, row, step, moment, clock)))
            return self._seq

    def _line(self, kind: str, fields: Mapping[str, Any]) -> None:
        if os.getpid() != self._pid:
            self._reborn()
        with self._lock:
            self._seq += 1
            self._store.append(seal(body(self._seq, kind, fields)))

    def event(self, name: str, at: float, text: str = "") -> None:
        """Record that something happened at the step `at`; `finished` and `crashed` say how the run ended."""
        self._line("event", {"name": name, "at": at, "text": text, "wall": self._now()})

    def config(self, mapping: Mapping[str, Any]) -> None:
        """Record settings; later ones win. Credentials among them are left out: a folder of a run is passed around."""
        self._line("config", {"config": without_credentials(plain(mapping))})

    def finding(self, finding: Finding) -> None:
        """Record a finding."""
        self._line("finding", {"finding": of_finding(finding)})

    def alarm(self, alarm: Alarm) -> None:
        """Record an alarm with its finding."""
        self._line("alarm", of_alarm(alarm))

    def fault_of_monitor(self, text: str, at: float) -> None:
        """Record that something went wrong in the monitor itself, as known at the step `at`."""
        self._line("fault", {"at": at, "text": text, "wall": self._now()})

    def rollout(self, policy_version: int | Sequence[int], step: float, current: int | None = None) -> None:
        """Record which policy versions made the data of an update: one number, or one for each trajectory.

        With `current`, the version being trained, their difference becomes the staleness of the data.
        """
        versions = [policy_version] if isinstance(policy_version, int) else [int(v) for v in policy_version]
        self._line("rollout", {"step": step, "versions": versions, "current": current})

    def batch(self, fingerprint: str, step: float) -> None:
        """Record the fingerprint of a batch that was trained on, so that repeats show."""
        self._line("batch", {"step": step, "fingerprint": fingerprint})

    def flush(self) -> bool:
        """Write out what is buffered; False when that is not possible now."""
        if os.getpid() != self._pid:
            return True
        with self._lock:
            return self._store.drain()

    def close(self) -> None:
        """Write everything, to the disk itself. Safe to call twice; a later line opens a new part."""
        if os.getpid() == self._pid:
            with self._lock:
                self._store.close()

    def _at_exit(self) -> None:
        self.close()

    def _reborn(self) -> None:
        """Begin anew in a forked child: the lock may be held for ever, and what waits is the parent's."""
        self._store.abandon()
        self._start()
        self._store.crowded = True  # that the parent writes, too, is no mistake

    def __getstate__(self) -> dict[str, Any]:
        fresh = ("_store", "_lock", "_rows", "_told")
        return {key: value for key, value in vars(self).items() if key not in fresh}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._told = None
        self._start()
        atexit.register(self._at_exit)
