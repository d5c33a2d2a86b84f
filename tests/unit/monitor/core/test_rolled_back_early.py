"""After a roll-back to the first rows a break is named at once, and padding is still no break."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import firstbreak
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.verdict import Verdict

NAN = math.nan


def row(loss: float) -> dict[str, float]:
    return {"policy/loss": loss, "critic/loss": 0.5, "policy/kl_old": 0.01, "policy/clip_fraction": 0.1}


def begun(folder: Path | None, rows: int = 12) -> Monitor:
    monitor = Monitor(folder, algorithm="PPO", clock="updates", act={"nonfinite-metric": "roll_back"})
    for step in range(rows):
        monitor.log(row(-0.01), step=step)
    return monitor


def after(monitor: Monitor, back: int, losses: list[float]) -> list[Verdict]:
    monitor.rolled_back(back)
    return [monitor.log(row(loss), step=back + 1 + place) for place, loss in enumerate(losses)]


@pytest.mark.parametrize("back", [0, 1, 4, 7])
def test_nan_right_after_a_roll_back_to_few_rows_is_named_at_its_row(back: int) -> None:
    monitor = begun(None)
    assert monitor.log(row(NAN), step=12).roll_back
    verdict = after(monitor, back, [NAN])[0]
    assert verdict.roll_back
    assert [alarm.finding.metric for alarm in verdict.alarms] == ["policy/loss"]


def test_and_again_after_a_second_roll_back() -> None:
    monitor = begun(None)
    assert after(monitor, 3, [NAN])[0].roll_back
    assert after(monitor, 1, [-0.01, NAN])[1].roll_back


def test_without_a_roll_back_few_rows_are_still_too_few() -> None:
    monitor = begun(None, rows=4)
    assert monitor.log(row(NAN), step=4).proceed


def test_a_key_that_was_padded_before_the_roll_back_is_still_padding() -> None:
    monitor = Monitor(None, algorithm="PPO", clock="updates", act={"nonfinite-metric": "roll_back"})
    for step in range(12):
        assert monitor.log(row(-0.01 if step % 2 == 0 else NAN), step=step).proceed
    assert all(verdict.proceed for verdict in after(monitor, 4, [NAN, -0.01, NAN, -0.01, NAN]))


def test_the_record_says_the_same_while_the_run_goes_on(tmp_path: Path) -> None:
    monitor = begun(tmp_path)
    alarms = after(monitor, 3, [NAN, NAN])[0].alarms
    monitor.flush()
    found = firstbreak.diagnose(tmp_path)
    assert [f.name for f in found.findings if f.name == "nonfinite-metric"] == [alarms[0].finding.name]
