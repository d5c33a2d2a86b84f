"""A rotated log is the same run: what broke in the file that went is not forgotten."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak.api import diagnose_log, load
from firstbreak.config import Settings
from firstbreak.monitor.watching.events import Kind
from firstbreak.monitor.watching.rotation import goes_on, joined
from firstbreak.runlog import RunLog

from .conftest import Stage

Make = Callable[..., Stage]
Row = Callable[..., dict[str, Any]]
KL = "losses/approx_kl"


def moved_away(log: Path) -> None:
    os.rename(log, f"{log}.1")


def copied_and_emptied(log: Path) -> None:
    Path(f"{log}.1").write_bytes(log.read_bytes())
    os.truncate(log, 0)


def told(s: Stage) -> list[str]:
    return [event.kind.value for event in s.kinds(Kind.RESTART, Kind.ROTATED, Kind.RESUME)]


@pytest.mark.parametrize("rotate", [moved_away, copied_and_emptied])
@pytest.mark.parametrize("one_file", [True, False])
def test_a_break_in_the_file_that_went_stays_one(
    tmp_path: Path, stage: Make, healthy: Row, rotate: Callable[[Path], None], one_file: bool
) -> None:
    log = tmp_path / "metrics.jsonl"
    s = stage(log if one_file else tmp_path)
    s.rows(log, [healthy(i, **({KL: 30.0} if 5 < i < 8 else {})) for i in range(12)])
    rotate(log)
    s.rows(log, [healthy(i) for i in range(12, 20)])
    assert told(s) == ["rotated"]
    assert [e.findings[0].name for e in s.kinds(Kind.FINDING)].count("kl-overshoot") == 1
    (diagnosis,) = s.watcher.diagnoses
    assert "kl-overshoot" in [finding.name for finding in diagnosis.findings]
    kl = s.track.log.get("policy/kl_old")
    assert kl is not None
    assert kl.step.tolist() == [1024 * i for i in range(20)]
    rotate(log)
    s.rows(log, [healthy(i) for i in range(20, 30)])
    assert told(s) == ["rotated", "rotated"]
    assert s.track.log.last_step == 29 * 1024
    assert "kl-overshoot" in [finding.name for finding in s.watcher.diagnoses[0].findings]


def test_a_run_from_the_start_in_a_rotated_place_is_a_restart(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path)
    log = tmp_path / "metrics.jsonl"
    s.rows(log, [healthy(i, **{KL: 30.0}) for i in range(12)])
    moved_away(log)
    s.rows(log, [healthy(i, **{KL: 0.005 + 0.0001 * i}) for i in range(8)])
    assert told(s) == ["restart"]
    assert s.watcher.diagnoses[0].findings == ()


def test_a_file_that_keeps_its_newest_rows_is_read_on_in_silence(tmp_path: Path, stage: Make, healthy: Row) -> None:
    s = stage(tmp_path)
    log, new = tmp_path / "metrics.jsonl", tmp_path / "part"
    rows = [json.dumps(healthy(i)) + "\n" for i in range(30)]
    for end in range(8, 30):
        s.write(new, "".join(rows[end - 8 : end]), "w")
        os.replace(new, log)
        s.poll()
    assert told(s) == []
    assert s.track.log.last_step == 28 * 1024
    series = s.track.log.get(KL.replace("losses/approx_kl", "policy/kl_old"))
    assert series is not None
    assert len(series) == 29


@pytest.mark.parametrize("cut", [2, 20, 59])
def test_both_parts_together_are_the_whole(tmp_path: Path, healthy: Row, cut: int) -> None:
    lines = [json.dumps(healthy(i, wall_time=1.7e9 + 3 * i, **({KL: 30.0} if i == 40 else {}))) for i in range(60)]

    def read(name: str, part: list[str]) -> RunLog:
        (tmp_path / name).write_text("\n".join(part) + "\n")
        return load(tmp_path / name)

    whole, first, second = read("a.jsonl", lines), read("b.jsonl", lines[:cut]), read("c.jsonl", lines[cut:])
    assert goes_on(first, second)
    assert not goes_on(second, first)
    both = joined(first, second)
    assert both.metrics == whole.metrics
    for series in whole.series:
        other = both.get(series.metric, series.scope)
        assert other is not None
        np.testing.assert_array_equal(other.step, series.step)
        np.testing.assert_array_equal(other.value, series.value)
    assert (both.clocks is None) == (whole.clocks is None)
    if both.clocks is not None and whole.clocks is not None:
        assert both.clocks.convert(40 * 1024, "seconds") == whole.clocks.convert(40 * 1024, "seconds")
    want = [(f.id, f.message, f.onset) for f in diagnose_log(whole, Settings()).findings]
    assert [(f.id, f.message, f.onset) for f in diagnose_log(both, Settings()).findings] == want


@pytest.mark.parametrize("cut", [1, 7, 30])
def test_numbers_of_the_update_before_find_its_row_in_the_part_before(tmp_path: Path, cut: int) -> None:
    head = "time/total_timesteps,rollout/ep_rew_mean,train/approx_kl,train/loss\n"
    lines = [f"{2048 * i},{20 + i},{0.01 + 0.0001 * i},{5 - 0.01 * i}\n" for i in range(1, 41)]

    def read(name: str, part: list[str]) -> RunLog:
        (tmp_path / name).mkdir()
        (tmp_path / name / "progress.csv").write_text(head + "".join(part))
        return load(tmp_path / name)

    whole, first, second = read("a", lines), read("b", lines[:cut]), read("c", lines[cut:])
    assert goes_on(first, second) is (cut > 1)  # after one row nobody knows how far apart rows are
    both = joined(first, second)
    for series in whole.series:
        other = both.get(series.metric)
        assert other is not None
        assert dict(zip(other.step, other.value, strict=True)) == dict(zip(series.step, series.value, strict=True))


def test_what_is_another_run_does_not_go_on(tmp_path: Path, healthy: Row) -> None:
    def log(name: str, steps: range) -> RunLog:
        (tmp_path / name).write_text("".join(json.dumps(healthy(i)) + "\n" for i in steps))
        return load(tmp_path / name)

    old = log("old.jsonl", range(10, 20))
    assert goes_on(old, log("next.jsonl", range(20, 22)))
    assert not goes_on(old, log("far.jsonl", range(30, 40)))  # the gap is longer than the run was
    assert not goes_on(old, replace(log("other.jsonl", range(20, 22)), algorithm="SAC"))
    assert not goes_on(replace(old, clock="rows"), replace(old, clock="rows"))
    assert not goes_on(replace(old, series=()), old)
