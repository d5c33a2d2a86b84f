"""The page on alerts: its Python runs, its table is the table of the code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from firstbreak.monitor import Monitor, alerts
from firstbreak.monitor.alerts import NINE

PAGE = (Path(__file__).resolve().parents[4] / "docs" / "how-to" / "alerts.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def train() -> Iterator[dict[str, float]]:
    """Forty healthy updates, then NaN."""
    for i in range(60):
        lost = i >= 40
        yield {
            "train/approx_kl": float("nan") if lost else 0.01 + 1e-4 * (i % 7),
            "train/loss": float("nan") if lost else 1.0 / (i + 1),
            "train/entropy_loss": float("nan") if lost else -0.6 + 1e-3 * (i % 5),
            "rollout/ep_rew_mean": 10.0 + i,
        }


def test_the_first_example_writes_the_alarm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(BLOCKS[0], {"train": train})
    rows = [json.loads(line) for line in (tmp_path / "runs" / "a" / "alerts.jsonl").read_text("utf-8").splitlines()]
    assert "nonfinite-metric" in {row["name"] for row in rows}
    assert "nonfinite-metric" in capsys.readouterr().err


def test_the_other_examples_make_alerts_that_a_monitor_takes(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    web = serve(200)
    monkeypatch.setenv("FIRSTBREAK_SLACK_WEBHOOK", web.url)
    monkeypatch.setenv("ALERT_TOKEN", "t")
    monkeypatch.setenv("ALERT_KEY", "k")
    assert len(BLOCKS) == 5
    taken: list[str] = []
    for block in BLOCKS[1:]:
        names: dict[str, Any] = {}
        exec(block.replace("port=9464", "port=0").replace("https://alerts.example/firstbreak", web.url), names)
        with Monitor(alerts=names["alerts"]) as monitor:
            monitor.log({"loss": 1.0})
        taken += [type(alert).__name__ for alert in names["alerts"]]
    assert taken == ["WandbAlert", "TrackioAlert", "Slack", "Webhook", "Prometheus", "OpenTelemetry", "function"]


def test_the_page_lists_every_alert_and_the_nine() -> None:
    for name in ("Console", "File", "WandbAlert", "TrackioAlert", "Slack", "Webhook", "Prometheus", "OpenTelemetry"):
        assert f"| `{name}(" in PAGE
        assert hasattr(alerts, name)
    for classic in NINE:
        rules = ", ".join(f"`{rule}`" for rule in classic.rules)
        limit = classic.limit.replace("|", r"\|")
        assert f"| {classic.title} | {classic.level} | {limit} | {rules} |" in PAGE
