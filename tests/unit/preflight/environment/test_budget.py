"""What counts as spent: work, not the time that others keep the machine busy."""

from __future__ import annotations

import pytest

from firstbreak.preflight.environment import budget
from firstbreak.preflight.environment.budget import Budget, Purse


@pytest.mark.parametrize(
    ("passed", "worked", "spent"),
    [
        (4.0, 4.0, 4.0),
        (8.0, 4.0, 4.0),  # half a core: as much is seen as on a whole one
        (4.0, 9.0, 4.0),  # threads work side by side
        (9.0, 0.1, 3.0),  # a simulator elsewhere: waiting counts for a third
    ],
)
def test_seconds_are_those_of_work(monkeypatch: pytest.MonkeyPatch, passed: float, worked: float, spent: float) -> None:
    clocks = {"perf_counter": 100.0, "process_time": 7.0}
    monkeypatch.setattr(budget.time, "perf_counter", lambda: clocks["perf_counter"])
    monkeypatch.setattr(budget.time, "process_time", lambda: clocks["process_time"])
    purse = Purse(Budget(seconds=3.5), begin=100.0, worked=7.0)
    clocks["perf_counter"] += passed
    clocks["process_time"] += worked
    assert purse.seconds == pytest.approx(spent)
    assert purse.empty == (spent > 3.5)
