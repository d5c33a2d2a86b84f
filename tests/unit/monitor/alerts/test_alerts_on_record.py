"""What went wrong in the monitor stands in its record: a terminal is gone when somebody asks why no alarm came."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from firstbreak import Monitor, diagnose
from firstbreak.finding import Severity
from firstbreak.monitor.alerts import AlertError, Schedule, Webhook
from firstbreak.monitor.alerts.box import Box, Letter
from firstbreak.monitor.faults import CLOSED


def broken(i: int) -> dict[str, float]:
    return {"policy/kl_old": 0.01 if i < 8 else 5.0, "policy/clip_fraction": 0.1, "policy/entropy": 0.6}


def recorded(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for path in sorted(folder.rglob("*.jsonl")) for line in path.read_text().splitlines()]
    return [line for line in lines if line["kind"] == "fault"]


@pytest.mark.parametrize("receiver", ["down", "slow", "500", "404"])
def test_an_alarm_that_reached_nobody_is_on_record(
    receiver: str, tmp_path: Path, serve: Any, closed_url: str, silent_url: str
) -> None:
    url = {"down": closed_url, "slow": silent_url}.get(receiver) or serve(int(receiver)).url
    with Monitor(tmp_path, algorithm="PPO", alerts=[Webhook(url, timeout_s=0.05)]) as monitor:
        assert all(monitor.log(broken(i), step=i).proceed for i in range(12))
    (line,) = recorded(tmp_path)
    assert [line["text"]] == monitor.faults
    assert "not delivered" in line["text"]
    assert 8.0 <= line["at"] <= 11.0  # of the row at which the answer was there; the alarm is of row 8
    assert [finding.name for finding in diagnose(tmp_path).findings][:1] == ["kl-overshoot"]


def test_an_alarm_that_arrived_leaves_no_fault(tmp_path: Path, serve: Any) -> None:
    web = serve(200)
    with Monitor(tmp_path, algorithm="PPO", alerts=[Webhook(web.url)]) as monitor:
        for i in range(12):
            monitor.log(broken(i), step=i)
    assert json.loads(web.bodies[0])["name"] == "kl-overshoot"
    assert monitor.faults == recorded(tmp_path) == []


def test_a_fault_is_recorded_with_the_next_row_for_a_run_that_is_killed(tmp_path: Path) -> None:
    monitor = Monitor(tmp_path, config={"algorithm": "PPOO"})
    monitor.log(broken(0), step=0)
    assert [line["text"] for line in recorded(tmp_path)] == monitor.faults
    monitor.log({**broken(1), "name": "a text"}, step=1)
    monitor.log({**broken(2), "name": "a text"}, step=2)
    assert [line["text"] for line in recorded(tmp_path)] == monitor.faults
    assert len(monitor.faults) == 2
    monitor.close()


def test_rows_after_the_close_are_kept_and_it_is_said_that_no_alert_goes_out(tmp_path: Path) -> None:
    heard: list[Any] = []
    monitor = Monitor(tmp_path, algorithm="PPO", alerts=[heard.append])
    for i in range(8):
        monitor.log(broken(i), step=i)
    monitor.close()
    assert monitor.faults == []
    for i in range(8, 12):
        assert monitor.log(broken(i), step=i).proceed
    assert "kl-overshoot" in {alarm.finding.name for alarm in monitor.alarms}
    assert heard == []
    assert monitor.faults == [CLOSED]
    assert [line["text"] for line in recorded(tmp_path)] == [CLOSED]
    monitor.close()


def test_what_is_left_at_the_end_says_what_the_last_try_met_with(make_notice: Any) -> None:
    box = Box(Webhook("http://127.0.0.1:9/"), "Webhook", Schedule(), lambda: 0.0)
    box.put(Letter(make_notice(level=Severity.ERROR), None))  # type: ignore[arg-type]
    assert box.settle(box.take(), AlertError("x did not answer within 5 s."), 0.0, closing=False) == ""
    assert box.abandon() == "Webhook: 1 notice not sent before the end. x did not answer within 5 s."
