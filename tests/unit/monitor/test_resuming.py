"""A monitor that is started again on a run's folder goes on from what was recorded, and repeats no alarm."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak import synth
from firstbreak.monitor import resuming
from firstbreak.monitor.core import Monitor

RUN = synth.like("PPO", n=240)({"policy/kl_old": synth.jump(0.008, 0.9, at=0.5)})
TABLE = {series.metric: series.value for series in RUN.series}


def train(monitor, first, last):
    for update in range(first, last):
        monitor.log({name: float(values[update]) for name, values in TABLE.items()}, step=update + 1)


def monitor(folder: Path | None):
    return Monitor(folder, algorithm="PPO", clock="updates", config={"gamma": 0.99, "target_kl": 0.02})


def names(one):
    return [alarm.finding.name for alarm in one.alarms]


def killed(folder, last):
    """A process that is gone: it closed its file without saying that the run has ended."""
    one = monitor(folder)
    train(one, 0, last)
    one.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    return one


def test_what_was_raised_before_is_not_raised_again_and_is_still_known(tmp_path):
    first = killed(tmp_path, 180)
    assert "kl-overshoot" in names(first)
    with monitor(tmp_path) as second:
        train(second, 180, 240)
        found = {finding.name for finding in second.diagnosis().findings}
    assert second.faults == []
    assert "kl-overshoot" not in names(second)
    assert "kl-overshoot" in found
    assert second.rows == 240


@settings(deadline=None, max_examples=8)
@given(at=st.integers(5, 200), back=st.integers(0, 30))
def test_the_history_is_that_of_one_run(tmp_path_factory, at, back):
    folder = tmp_path_factory.mktemp("run")
    killed(folder, at)
    start = max(1, at - back)
    with monitor(folder) as second:
        train(second, start, 220)
    whole = monitor(None)
    train(whole, 0, 220)
    one, other = whole.run_log(), second.run_log()
    assert {s.metric for s in one.series} == {s.metric for s in other.series}
    for series in one.series:
        same = other.get(series.metric)
        np.testing.assert_array_equal(same.step, series.step)
        np.testing.assert_array_equal(same.value, series.value)
    assert [e.at for e in other.events if e.name == "resume"] == [start + 1]


def test_a_run_that_begins_anew_takes_nothing(tmp_path):
    killed(tmp_path, 100)
    with monitor(tmp_path) as second:
        train(second, 0, 50)
    assert second.rows == 50
    assert not [e for e in second.run_log().events if e.name == "resume"]


def test_a_break_that_nobody_was_told_of_is_raised_at_once(tmp_path):
    first = killed(tmp_path, 180)
    assert "kl-overshoot" in names(first)
    for part in (tmp_path / "firstbreak").iterdir():  # as if it had died before it could say so
        kept = [line for line in part.read_text().splitlines() if json.loads(line)["kind"] != "alarm"]
        part.write_text("\n".join(kept) + "\n")
    with monitor(tmp_path) as second:
        verdict = second.log({name: float(values[180]) for name, values in TABLE.items()}, step=181)
    assert "kl-overshoot" in [alarm.finding.name for alarm in verdict.alarms]


def test_a_second_monitor_beside_a_living_one_takes_nothing(tmp_path):
    one = monitor(tmp_path)
    train(one, 0, 60)
    two = monitor(tmp_path)
    train(two, 60, 61)
    assert two.rows == 1
    one.close()
    two.close()


def test_a_damaged_record_is_passed_over_and_said(tmp_path):
    folder = tmp_path / "firstbreak"
    folder.mkdir()
    (folder / "record-0-00001.jsonl").write_bytes(b"\xff\xfe not a record\n")
    with monitor(tmp_path) as one:
        train(one, 0, 3)
    assert [fault for fault in one.faults if "not taken up" in fault]
    assert one.rows == 3


def test_a_record_that_is_too_large_to_read_is_left_alone_and_said(tmp_path, monkeypatch):
    killed(tmp_path, 60)
    monkeypatch.setattr(resuming, "MOST_BYTES", 1000)
    with monitor(tmp_path) as second:
        train(second, 60, 70)
    assert [fault for fault in second.faults if "more than a monitor reads" in fault]
    assert second.rows == 10
