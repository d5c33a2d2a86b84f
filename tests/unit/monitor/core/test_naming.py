"""An algorithm that nobody knows is said once, with the nearest known name, and never stops a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstbreak import Monitor, load
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


@pytest.mark.parametrize("key", ["algorithm", "algo"])
def test_a_slip_in_the_settings_is_said_as_well(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    monitor = Monitor(None, config={key: "PPOO", "gamma": 0.99})
    assert capsys.readouterr().err.startswith("firstbreak monitor: No algorithm named 'PPOO'. Did you mean 'PPO'")
    assert len(monitor.faults) == 1


@pytest.mark.parametrize("value", ["ppo", "", None, 3, {"adv_estimator": "gae"}])
def test_settings_that_name_a_known_one_or_none_are_no_fault(value: object) -> None:
    assert Monitor(None, config={"algorithm": value}).faults == []


@pytest.mark.parametrize("said", [{"algorithm": "mine"}, {"algorithm": "sac"}, {"algo": "SAC", "trainer": "x"}])
@pytest.mark.parametrize("late", [False, True])
def test_the_name_given_outright_counts_before_settings_live_and_afterwards(
    tmp_path: Path, said: dict[str, str], late: bool
) -> None:
    with Monitor(tmp_path, algorithm="ppo", config={} if late else said, clock="updates") as monitor:
        if late:
            monitor.configure(said)
        for i in range(3):
            monitor.log({"critic/q_mean": 1.0, "policy/loss": 0.1}, step=i)
        assert monitor.run_log().algorithm == "PPO"
    assert monitor.faults == []
    assert load(tmp_path).algorithm == "PPO"


def test_settings_name_it_where_nothing_known_was_said_outright(tmp_path: Path) -> None:
    with Monitor(tmp_path, algorithm="mine", config={"algorithm": "SAC"}, clock="updates") as monitor:
        for i in range(3):
            monitor.log({"critic/q_mean": 1.0, "policy/loss": 0.1}, step=i)
        assert monitor.run_log().algorithm == "SAC"
    assert load(tmp_path).algorithm == "SAC"


def test_a_slip_is_said_where_it_matters() -> None:
    assert unknown_algorithm("PPO", {"algorithm": "PPOO"}) == ""
    assert "'DQM'" in unknown_algorithm("DQM", {"algorithm": "PPO"})
    assert unknown_algorithm("", {"algorithm": "my own", "algo": "ppo"}) == ""
