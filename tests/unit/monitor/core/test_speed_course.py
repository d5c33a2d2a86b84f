"""What `Monitor.log` costs is measured on a run without trouble: an alarm would be measured, too."""

from __future__ import annotations

import pytest

from benchmarks.speed.monitor_log import HEALTHY, course
from firstbreak import Monitor
from firstbreak.vocabulary import metric


@pytest.mark.parametrize("updates", [200, 2000])
def test_the_course_of_the_speed_benchmark_raises_nothing(updates: int) -> None:
    monitor = Monitor(None, algorithm="PPO", config={"gamma": 0.99})
    for update, row in enumerate(course(updates)):
        monitor.log(row, step=512 * (update + 1))
    assert monitor.diagnosis().verdict == "healthy"
    assert monitor.alarms == []
    assert monitor.faults == []


def test_no_number_of_it_is_impossible_however_long_it_is() -> None:
    rows = course(10_000)
    assert [n for n in HEALTHY if any(not metric(n).lo <= row[n] <= metric(n).hi for row in rows)] == []
