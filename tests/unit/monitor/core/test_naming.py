"""An algorithm that nobody knows is said once, with the nearest known name, and never stops a run."""

from __future__ import annotations

import pytest

from firstbreak import Monitor
from firstbreak.monitor.naming import unknown_algorithm
from firstbreak.vocabulary import algorithms


def test_a_slip_of_the_pen_is_said_with_the_nearest_name_and_the_monitor_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    monitor = Monitor(None, algorithm="PPOO", time_share=float("inf"))
    said = capsys.readouterr().err
    assert said.startswith("firstbreak monitor: No algorithm named 'PPOO'. Did you mean 'PPO'")
    assert said.count("\n") == 1
    for i in range(12):
        assert monitor.log({"policy/kl_old": 0.01 if i < 8 else 5.0, "policy/clip_fraction": 0.1}, step=i).proceed
    assert len(monitor.faults) == 1
    assert capsys.readouterr().err == ""
    assert "kl-overshoot" in {alarm.finding.name for alarm in monitor.alarms}
    assert monitor.run_log().algorithm == "PPO"


def test_what_is_near_nothing_is_answered_with_all_there_is() -> None:
    said = unknown_algorithm("DreamerV3")
    assert all(name in said for name in algorithms())
    assert "told from the keys" in said


@pytest.mark.parametrize("name", ["", "ppo", "PPO2", "MaskablePPO", "mmrkhs", *algorithms()])
def test_a_known_name_in_any_spelling_is_no_fault(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert Monitor(None, algorithm=name).faults == []
    assert capsys.readouterr().err == ""
