"""W&B offline, Trackio and OpenTelemetry: the real libraries, without a network."""

from __future__ import annotations

import math
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firstbreak.errors import MissingExtraError
from firstbreak.finding import Component, Finding, Link, Onset, Severity
from firstbreak.monitor.alerts import OpenTelemetry, Post, Readings, TrackioAlert, WandbAlert
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.verdict import Alarm, Notice
from firstbreak.readers.leveldb_log import LogReader
from firstbreak.readers.protowire import fields, text

Make = Callable[..., Notice]

SEND = """
from firstbreak.finding import Severity
from firstbreak.monitor.alerts import *
from firstbreak.monitor.verdict import Notice
def notice(level, name, title):
    return Notice(level, title, "measured\\x1b[2J", "r", "X001", name, "link", "optim/grad_norm", 7.0, "updates",
                  "continue", 0.0)
NOTICES = [
    notice(Severity.WARNING, "grad-norm-explosion", "one"), notice(Severity.ERROR, "kl-overshoot", "two"),
    notice(Severity.INFO, "reward-flat", "three " * 30), notice(Severity.WARNING, "grad-norm-explosion", "four"),
]
def send(alert):
    post = Post([alert], schedule=Schedule(first_wait_s=0.0))
    for each in NOTICES:
        post.send(each)
    assert post.drain(30)
    post.close()
    return post.faults
"""
SENT = [
    (
        "Gradient explosion: optim/grad_norm",
        "one\nmeasured\\x1b[2J\nrule grad-norm-explosion (X001), update 7",
        "ERROR",
    ),
    ("two", "measured\\x1b[2J\nrule kl-overshoot (X001), update 7", "ERROR"),
    (("three " * 30)[:62] + "…", "measured\\x1b[2J\nrule reward-flat (X001), update 7", "INFO"),
    (
        "Gradient explosion: optim/grad_norm",
        "four\nmeasured\\x1b[2J\nrule grad-norm-explosion (X001), update 7",
        "ERROR",
    ),
]


def run(code: str, **environment: str) -> str:
    command = [sys.executable, "-c", SEND + code]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def alerts_in(path: Path) -> list[tuple[str, str, str]]:
    """The alerts of a `.wandb` file: field 10 of a record, and of it the title, the text and the level."""
    found: list[tuple[str, str, str]] = []
    with path.open("rb") as stream:
        for record in LogReader(stream):
            for item in fields(record, 0, len(record)):
                if item.number == 10:
                    inside = {f.number: text(record, f) for f in fields(record, item.lo, item.hi) if f.number < 4}
                    found.append((inside[1], inside[2], inside[3]))
    return found


def test_alerts_land_in_the_offline_file_of_the_active_wandb_run(tmp_path: Path) -> None:
    code = """
import wandb
alert = WandbAlert()
assert send(alert) == ["WandbAlert: not delivered after 5 tries. No W&B run is active."]
run = wandb.init(project="p", settings=wandb.Settings(console="off", silent=True, x_disable_stats=True))
assert send(alert) == []
run.finish()
print(send(alert), send(WandbAlert(run)))
"""
    places = {f"WANDB_{name}": str(tmp_path) for name in ("DIR", "CACHE_DIR", "CONFIG_DIR", "DATA_DIR")}
    printed = run(code, WANDB_MODE="offline", **places)
    (file,) = [p for p in tmp_path.rglob("*.wandb") if "latest-run" not in str(p)]
    assert alerts_in(file) == SENT
    assert printed.count("not delivered") == 2


def test_alerts_land_in_the_data_base_of_the_active_trackio_run(tmp_path: Path) -> None:
    code = """
import trackio
alert = TrackioAlert()
trackio.init(project="p", name="r", embed=False)
assert send(alert) == []
trackio.finish()
print(send(alert))
"""
    printed = run(code, TRACKIO_DIR=str(tmp_path), HF_HUB_OFFLINE="1")
    with sqlite3.connect(tmp_path / "p.db") as base:
        rows = base.execute("select title, text, upper(level) from alerts order by id").fetchall()
    base.close()
    assert rows == SENT
    assert "No Trackio run is active" in printed
    assert "\x1b[2J" not in printed


def alarm() -> Alarm:
    onset = Onset(1, 2, "updates")
    finding = Finding("P1", "x", Link.CRITIC, Component.VALUE, Severity.ERROR, onset, "m", "critic/q_mean")
    return Alarm(finding, 1.0, 1, 0.0)


def test_opentelemetry_collects_values_alarms_and_notices(make_notice: Make) -> None:
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    reader, records = InMemoryMetricReader(), InMemoryLogRecordExporter()
    meters, logs = MeterProvider(metric_readers=[reader]), LoggerProvider()
    logs.add_log_record_processor(SimpleLogRecordProcessor(records))
    alert = OpenTelemetry(meter_provider=meters, logger_provider=logs)
    monitor = Monitor()
    monitor.latest.update({"a/b": 1.5, "bad\x1b": -2.0, "nan": math.nan})
    monitor.alarms += [alarm(), alarm()]
    post = Post([alert], source=monitor)
    post.send(make_notice(level=Severity.WARNING))
    post.send(make_notice(metric="\ud800", wall=0.0))
    assert post.drain(20.0)
    points = collected(reader)
    assert points["firstbreak.latest"] == {(("key", "a/b"),): 1.5, (("key", "bad\\x1b"),): -2.0}
    ((labels, count),) = points["firstbreak.alarms"].items()
    assert count == 2
    assert dict(labels) == {"code": "P1", "rule": "x", "link": "critic", "severity": "error"}
    first, second = (item.log_record for item in records.get_finished_logs())
    assert (first.severity_text, first.severity_number.value) == ("WARN", 13)
    assert first.timestamp == 1_800_000_000_500_000_000
    assert str(first.body).startswith("kl-overshoot at update 120: 2.3 nats\nKL per update rose")
    assert first.attributes["firstbreak.action"] == "stop_update"
    assert second.attributes["firstbreak.metric"] == "\\ud800"
    post.close()
    assert collected(reader).get("firstbreak.latest", {}) == {}
    meters.shutdown()
    logs.shutdown()


def collected(reader: Any) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    data = reader.get_metrics_data()
    metrics = [m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics] if data else []
    return {m.name: {tuple(p.attributes.items()): p.value for p in m.data.data_points} for m in metrics}


def test_without_an_sdk_opentelemetry_does_nothing(make_notice: Make) -> None:
    asked: list[int] = []
    alert = OpenTelemetry(Readings(lambda: asked.append(1) or {"a": 1.0}))
    alert.send(make_notice())
    alert.close()
    assert asked == []  # nobody collects, so that the monitor is not even asked for its numbers


@pytest.mark.parametrize(
    ("module", "make"),
    [("wandb", WandbAlert), ("trackio", TrackioAlert), ("opentelemetry.metrics", OpenTelemetry)],
)
def test_a_missing_package_is_named_at_once(module: str, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'firstbreak\["):
        make()


def test_a_trackio_without_alerts_is_told_to_be_updated(monkeypatch: pytest.MonkeyPatch) -> None:
    import types

    monkeypatch.setitem(sys.modules, "trackio", types.ModuleType("trackio"))
    with pytest.raises(MissingExtraError, match="Update it"):
        TrackioAlert()
