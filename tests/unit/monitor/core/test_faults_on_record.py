"""What went wrong in the monitor is seen by whoever diagnoses its record later."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from firstbreak import Monitor, diagnose, load
from firstbreak.report import json as as_json
from firstbreak.report.text import render

SAID = "the monitor said: "


def row(i: int) -> dict[str, float]:
    return {"policy/kl_old": 0.01 if i < 8 else 5.0, "policy/clip_fraction": 0.1, "policy/entropy": 0.6}


def said(folder: Path) -> list[tuple[str, str]]:
    problems = load(folder).provenance.problems
    return [(p.where, p.what.removeprefix(SAID)) for p in problems if p.what.startswith(SAID)]


def spoil(monitor: Monitor, name: str) -> None:
    state = monitor._looks._judge.states[name]

    def broken(view: Any, params: Any) -> Any:
        raise ZeroDivisionError("planted")

    state.rule = replace(state.rule, detect=broken)


def test_a_rule_that_failed_is_named_by_every_report(tmp_path: Path) -> None:
    with Monitor(tmp_path, algorithm="PPO", clock="updates", time_share=0.0) as monitor:
        spoil(monitor, "policy-frozen")
        for i in range(12):
            monitor.log(row(i), step=i)
    assert said(tmp_path) == [("step 5", monitor.faults[0])]
    assert "policy-frozen failed" in monitor.faults[0]
    found = diagnose(tmp_path)
    text = " ".join(render([found], full=True).split())
    assert "the monitor said: rule policy-frozen failed and is left out: ZeroDivisionError: planted" in text
    problems = as_json.run_dict(found)["run"]["provenance"]["problems"]
    assert [p["where"] for p in problems] == ["step 5"]


def test_what_fails_while_it_is_closed_is_on_record_as_the_record_is_closed_last(tmp_path: Path) -> None:
    class Deaf:
        def send(self, notice: Any) -> None:
            raise OSError("down")

        def close(self) -> None:
            raise RuntimeError("stuck")

    monitor = Monitor(tmp_path, algorithm="PPO", clock="updates", alerts=[Deaf()])
    for i in range(11):
        monitor.log(row(i) | {"policy/kl_old": 0.01}, step=i)
    spoil(monitor, "policy-frozen")
    monitor.log(row(11), step=11)
    monitor.close()
    told = said(tmp_path)
    assert [text for _, text in told] == monitor.faults
    assert any("policy-frozen failed" in fault for fault in monitor.faults)
    assert any("not delivered" in fault for fault in monitor.faults)
    assert any("could not be closed" in fault for fault in monitor.faults)
    assert {where for where, _ in told} == {"step 11"}
    assert load(tmp_path).state == "finished"


def test_a_fault_of_every_restart_is_said_once(tmp_path: Path) -> None:
    for start in (0, 5, 10):
        with Monitor(tmp_path, algorithm="PPOO", clock="updates") as monitor:
            for i in range(start, start + 5):
                monitor.log(row(0), step=i)
    assert [text for _, text in said(tmp_path)] == monitor.faults
    assert len(monitor.faults) == 1


def test_a_record_without_faults_has_no_such_problem(tmp_path: Path) -> None:
    with Monitor(tmp_path, algorithm="PPO", clock="updates") as monitor:
        for i in range(12):
            monitor.log(row(i), step=i)
    assert load(tmp_path).provenance.problems == ()
