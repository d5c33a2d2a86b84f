"""`OpenTelemetry`: the state of a run and its alarms for any OpenTelemetry exporter."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from ...errors import missing_extra
from ...finding import Severity
from ..verdict import Notice
from .alert import Source
from .nine import title_of
from .plain import brief
from .readings import AlarmCount, latest_of
from .wandb_alert import plain_text

_SEVERITY = {Severity.INFO: "INFO", Severity.WARNING: "WARN", Severity.ERROR: "ERROR"}


class OpenTelemetry:
    """Registers the gauge `firstbreak.latest` and the counter `firstbreak.alarms`, and emits a log record per notice.

    The gauge has finite values only. Where they go is what your program set up with the OpenTelemetry SDK; without one
    nothing happens.

    Args:
        source: The monitor, or `Readings`; a `Monitor` that has this among its alerts gives itself.
        meter_provider: The program's own when not given.
        logger_provider: The program's own when not given.

    Raises:
        MissingExtraError: opentelemetry-api is not installed.
    """

    def __init__(
        self, source: Source | None = None, *, meter_provider: Any = None, logger_provider: Any = None
    ) -> None:
        try:
            self._metrics: Any = import_module("opentelemetry.metrics")
            self._logs: Any = import_module("opentelemetry._logs")
        except ImportError as error:
            raise missing_extra("opentelemetry-api", "opentelemetry", "The alert OpenTelemetry") from error
        self._source = source
        self._count = AlarmCount()
        self._logger: Any = self._logs.get_logger("firstbreak", logger_provider=logger_provider)
        meter: Any = self._metrics.get_meter("firstbreak", meter_provider=meter_provider)
        meter.create_observable_gauge(
            "firstbreak.latest", callbacks=[self._latest], description="Newest value of each metric of the run."
        )
        meter.create_observable_counter(
            "firstbreak.alarms", callbacks=[self._alarms], description="Alarms raised so far."
        )

    def attach(self, source: Source) -> None:
        """Report this monitor, unless a source was given."""
        self._source = self._source if self._source is not None else source

    def _latest(self, options: object) -> Iterator[Any]:
        finite = {key: value for key, value in latest_of(self._source).items() if math.isfinite(value)}
        for key, value in finite.items():  # the SDK complains of others on every collection
            yield self._metrics.Observation(value, {"key": brief(key, 200)})

    def _alarms(self, options: object) -> Iterator[Any]:
        for (code, rule, link, severity), count in self._count.of(self._source).items():
            yield self._metrics.Observation(count, {"code": code, "rule": rule, "link": link, "severity": severity})

    def send(self, notice: Notice) -> None:
        """Emit `notice` as a log record."""
        level = _SEVERITY[notice.level]
        wall_ns = int(notice.wall * 1e9)
        self._logger.emit(
            self._logs.LogRecord(
                timestamp=wall_ns,
                observed_timestamp=wall_ns,
                severity_text=level,
                severity_number=self._logs.SeverityNumber[level],
                body=f"{title_of(notice, 200)}\n{plain_text(notice)}",
                attributes={
                    "event.name": "firstbreak.alarm",
                    "firstbreak.code": notice.rule,
                    "firstbreak.rule": notice.name,
                    "firstbreak.link": notice.link,
                    "firstbreak.metric": brief(notice.metric, 200),
                    "firstbreak.step": notice.step,
                    "firstbreak.clock": notice.clock,
                    "firstbreak.action": notice.action,
                },
            )
        )

    def close(self) -> None:
        """Report nothing any more; the instruments stay, as OpenTelemetry has no way to remove them."""
        self._source = None
