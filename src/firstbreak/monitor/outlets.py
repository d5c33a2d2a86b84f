"""What leaves the monitor: the record on disk and alerts. None of it can stop a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .blamed import blamed
from .faults import Faults
from .verdict import Action, Alarm, Notice, place

if TYPE_CHECKING:
    from .record import Recorder


class Outlets:
    """The record and the alerts of one monitor.

    Args:
        path: The run's folder, or None for no record.
        alerts: Sinks, see `firstbreak.monitor.alerts`.
        rank: This process among many.
        about: What is known of the run: `framework`, `algorithm`, `clock`.
        source: The monitor, whose state some alerts serve.
        fault: Hears of what went wrong here; what is kept there goes into the record.
    """

    def __init__(
        self,
        path: Path | None,
        alerts: Sequence[Any],
        *,
        rank: int | None,
        about: Mapping[str, str],
        source: Any,
        now: Callable[[], float],
        fault: Faults,
    ) -> None:
        self.run = str(path or "")
        self._fault, self._at = fault, 0.0
        self.record: Recorder | None = None
        self._post: Any = None
        if path is not None:
            from .record import Recorder

            framework, algorithm, clock = (about.get(key, "") for key in ("framework", "algorithm", "clock"))
            self.record = Recorder(
                path, rank=rank, framework=framework, algorithm=algorithm, clock=clock, told=fault, now=now
            )
        if alerts:
            from .alerts import Post

            self._post = Post(alerts, source=source, fault=fault)

    def row(self, keys: Sequence[str], values: Sequence[float], step: float, wall: float, clock: str) -> None:
        """Record one row."""
        if self.record is not None:
            self.record.metrics(dict(zip(keys, values, strict=True)), step, wall, clock)
            self._at = step
            if self._fault.unrecorded:
                self._own_up()

    def event(self, name: str, at: float, text: str) -> None:
        """Record an event."""
        if self.record is not None:
            self.record.event(name, at, text)

    def config(self, config: Mapping[str, Any]) -> None:
        """Record settings."""
        if self.record is not None and config:
            self.record.config(config)

    def alarm(self, alarm: Alarm, clock: str) -> None:
        """Record an alarm, and send it where it is to be told."""
        if self.record is not None:
            self.record.alarm(alarm)
        if self._post is not None and alarm.alerted:
            self._post.send(notice_of(alarm, self.run, clock))

    def flush(self) -> None:
        """Write out what is buffered."""
        if self.record is not None:
            self.record.flush()

    def close(self) -> None:
        """Send what is due and close the record: last, as it is to hold what could not be sent."""
        for end in (self._post and self._post.close, self._own_up, self.record and self.record.close):
            try:
                if end is not None:
                    end()
            except Exception as error:
                self._fault(f"close: {type(error).__name__}: {error}")

    def _own_up(self) -> None:
        """Record what went wrong in the monitor since the last row."""
        while self.record is not None and self._fault.unrecorded:
            self.record.fault_of_monitor(self._fault.unrecorded.popleft(), self._at)


def notice_of(alarm: Alarm, run: str, clock: str) -> Notice:
    """Return what is sent of `alarm`."""
    finding = alarm.finding
    where = f"{finding.scope}, " if str(finding.scope) else ""
    done = "" if alarm.action is Action.CONTINUE else f" Asked for: {alarm.action.value.replace('_', ' ')}."
    seen = f"Link {finding.link}, {where}{finding.metric}, seen at {place(alarm.at, clock)}."
    return Notice(
        level=finding.severity,
        title=f"{finding.name}: {finding.message}",
        text=f"{seen}{blamed(alarm.cause)}{done}",
        run=run,
        rule=finding.rule,
        name=finding.name,
        link=str(finding.link),
        metric=finding.metric,
        step=alarm.at,
        clock=clock,
        action=str(alarm.action),
        wall=alarm.wall,
        cause=alarm.cause,
        evidence=dict(finding.evidence),
    )
