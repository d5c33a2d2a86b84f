"""A diagnosis of a run that was rolled back says so: what was undone is gone from the curves that are judged."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from firstbreak import Monitor, diagnose, load
from firstbreak.limits import MEANT
from firstbreak.report import json as as_json
from firstbreak.report.html import page
from firstbreak.report.markdown import render as markdown
from firstbreak.report.text import render
from firstbreak.runlog import RunLog

NOTE = "rolled back to step 5 (alarms: kl-overshoot); undone rows not judged"


def trained(folder: Path, back_to: tuple[int, ...]) -> None:
    """Train for 40 rows; KL is far too large at row 10 as often as the run is put back."""
    monitor = Monitor(folder, algorithm="PPO", clock="updates", act={"kl-overshoot": "roll_back"})
    waiting = list(back_to)
    step = 0
    while step < 40:
        verdict = monitor.log({"policy/kl_old": 5.0 if waiting and step == 10 else 0.01}, step=step)
        if verdict.roll_back:
            step = waiting.pop(0)
            monitor.rolled_back(step)
        step += 1
    monitor.close()
    assert not waiting
    assert monitor.faults == []


def test_every_face_says_that_the_run_was_rolled_back(tmp_path: Path) -> None:
    trained(tmp_path, (5,))
    found = diagnose(tmp_path)
    assert found.notes == (NOTE, MEANT)
    assert [f.name for f in found.findings if f.severity.rank] == []
    lines = render([found], full=True).splitlines()
    assert f"note    {NOTE}" in lines, "it fits one line of eighty columns"
    assert as_json.run_dict(found)["notes"] == [NOTE, MEANT]
    for text in (markdown([found]), page([found])):
        assert "rolled back to step 5" in text


def test_several_places_are_named(tmp_path: Path) -> None:
    trained(tmp_path, (5, 3, 5, 2, 1))
    note, _ = diagnose(tmp_path).notes
    assert note.startswith("rolled back to step 1, 2, 3 and 1 more (alarms: kl-overshoot)")


@pytest.mark.parametrize("again", [5, 6, 11], ids=["the row is made again", "the next one is", "steps go on"])
@pytest.mark.parametrize("new_part", [False, True])
def test_the_row_gone_back_to_stays_and_what_came_after_it_goes_live_and_afterwards(
    tmp_path: Path, again: int, new_part: bool
) -> None:
    def log(monitor: Monitor, step: int, value: float) -> None:
        monitor.log({"policy/kl_old": value, "policy/entropy": 1.0}, step=step)

    def points(log: RunLog) -> list[tuple[float, float]]:
        found = log.get("policy/kl_old")
        assert found is not None
        return list(zip(found.step.tolist(), found.value.tolist(), strict=True))

    monitor = Monitor(tmp_path, algorithm="PPO", clock="updates")
    for step in range(11):
        log(monitor, step, step)
    if new_part:
        monitor.close()
        monitor = Monitor(tmp_path, algorithm="PPO", clock="updates")
        log(monitor, 11, 11.0)
    monitor.rolled_back(5)
    for step in range(again, again + 4):
        log(monitor, step, 100.0 + step)
    here = points(monitor.run_log())
    monitor.close()
    assert here == [*((s, s) for s in range(min(6, again))), *((s, 100.0 + s) for s in range(again, again + 4))]
    assert points(load(tmp_path)) == here


def test_a_finding_of_the_row_gone_back_to_stays() -> None:
    monitor = Monitor(None, algorithm="PPO", clock="updates")
    for step in range(20):
        monitor.log({"policy/kl_old": math.nan if step == 8 else 0.01, "policy/entropy": 1.0}, step=step)
    for back, found in ((8, True), (7, False)):
        monitor.rolled_back(back)
        assert ("nonfinite-metric" in {f.name for f in monitor.diagnosis().findings}) is found


@pytest.mark.parametrize("resumed", [False, True])
def test_a_run_that_was_not_rolled_back_has_no_such_note(tmp_path: Path, resumed: bool) -> None:
    trained(tmp_path, ())
    if resumed:  # begun again at an earlier step by another process: a resume, and no roll-back
        with Monitor(tmp_path, algorithm="PPO", clock="updates") as monitor:
            for step in range(20, 50):
                monitor.log({"policy/kl_old": 0.01}, step=step)
    assert diagnose(tmp_path).notes == (MEANT,)
