"""The monitor beside a run, as a user would have it: what it measures is recorded next to the framework's own log."""

from __future__ import annotations

import tempfile
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.faults.recording import Recording, plain
from firstbreak.config import Settings
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.resuming import earlier
from firstbreak.monitor.world import World

DIGITS = 4
"""Significant digits that are kept of a measurement: the corpus is to stay small."""


class Guarded:
    """A monitor that does nothing to the run; at the end its record goes into the recording.

    Next to no rule is asked meanwhile: rules change more often than runs are recorded, and are asked again of every
    row when the run is scored.
    """

    def __init__(self, recording: Recording, algorithm: str, framework: str, clock: str) -> None:
        self.recording = recording
        self._place = tempfile.TemporaryDirectory(prefix="guarded-")
        self._folder = Path(self._place.name)
        few = Settings(select=("nonfinite-metric",))
        self.monitor = Monitor(
            self._folder, algorithm=algorithm, framework=framework, clock=clock, settings=few, time_share=0.0
        )

    @cached_property
    def world(self) -> World:
        """What sees the environment's steps; made when it is first asked for."""
        return World(self.monitor)

    def __enter__(self) -> Guarded:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.monitor.close()
        faults = list(self.monitor.faults)
        record = earlier(self._folder, None, faults)
        if record is not None:
            self.recording.guarded = {
                key: ([plain(s) for s in curve.step.tolist()], [plain(v, DIGITS) for v in curve.value.tolist()])
                for key, curve in record.curves.items()
            }
            self.recording.guarded_config = {k: as_setting(v) for k, v in record.config.items() if v is not None}
        self.recording.guard_faults = faults
        self._place.cleanup()


def as_setting(value: Any) -> Any:
    """A setting as JSON can hold it."""
    return plain(value) if isinstance(value, float) else value
