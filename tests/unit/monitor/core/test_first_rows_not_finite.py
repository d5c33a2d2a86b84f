"""A metric whose first rows hold no finite value is judged as soon as it has one."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import firstbreak
from firstbreak.monitor import Monitor


@pytest.mark.parametrize("empty", [math.nan, math.inf])
def test_a_rule_wakes_when_its_metric_becomes_finite(empty: float) -> None:
    monitor = Monitor(algorithm="PPO", time_share=math.inf)
    alarms: list[str] = []
    for row in range(12):
        verdict = monitor.log({"policy/kl_old": empty if row < 3 else 9.0, "policy/entropy": 0.6}, step=512 * row)
        alarms += [alarm.finding.name for alarm in verdict.alarms]
    assert "kl-overshoot" in alarms


def test_live_and_afterwards_say_the_same_of_a_first_infinite_kl(tmp_path: Path) -> None:
    monitor = Monitor(tmp_path / "run", algorithm="PPO", time_share=math.inf)
    for row in range(12):
        monitor.log({"policy/kl_old": math.inf if row < 2 else 0.0, "policy/entropy": 0.6}, step=512 * row)
    live = next(f for f in monitor.diagnosis().findings if f.name == "kl-overshoot")
    monitor.close()
    after = next(f for f in firstbreak.diagnose(tmp_path / "run").findings if f.name == "kl-overshoot")
    assert (live.onset.lo, live.onset.hi) == (after.onset.lo, after.onset.hi) == (0.0, 0.0)
