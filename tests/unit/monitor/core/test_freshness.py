"""Repeated batches and old policies are named while the run goes, and lie in the record one by one."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak import Monitor, diagnose
from firstbreak.monitor import freshness as module
from firstbreak.monitor.freshness import Freshness


def batch(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {"obs": rng.normal(size=(4, 3)), "actions": [int(a) for a in rng.integers(0, 2, 4)]}


def guarded(folder: Path | None, repeats_from: int, **options: Any) -> Monitor:
    """A PPO run of 20 updates; from `repeats_from` on each trains on the batch of the first once more."""
    monitor = Monitor(folder, algorithm="PPO", clock="updates", time_share=math.inf, **options)
    fresh = Freshness(monitor)
    for update in range(20):
        fresh.rollout([update, update - 1], current=update, step=update)
        fresh.batch(batch(0 if update >= repeats_from else update), step=update)
        monitor.log({"policy/kl_old": 0.01, "policy/entropy": 0.6}, step=update)
    monitor.close()
    assert monitor.faults == []
    return monitor


def test_a_buffer_that_is_not_cleared_is_named_at_its_row() -> None:
    monitor = guarded(None, repeats_from=8)
    (alarm,) = [a for a in monitor.alarms if a.finding.name == "batch-repeated"]
    assert (alarm.at, alarm.finding.onset.hi) == (8, 8)
    assert monitor.latest["async/staleness_mean"] == 0.5
    assert monitor.latest["async/staleness_max"] == 1.0


def test_fresh_batches_are_left_in_peace() -> None:
    assert [a.finding.name for a in guarded(None, repeats_from=99).alarms] == []


def test_the_record_holds_versions_and_fingerprints_and_says_the_same(tmp_path: Path) -> None:
    monitor = guarded(tmp_path, repeats_from=8)
    lines = [json.loads(line) for path in tmp_path.rglob("*.jsonl") for line in path.read_text().splitlines()]
    assert [line["versions"] for line in lines if line["kind"] == "rollout"][:2] == [[0, -1], [1, 0]]
    names = [line["fingerprint"] for line in lines if line["kind"] == "batch"]
    assert (len(names), len(set(names)), names[0] == names[8]) == (20, 8, True)
    later = [f for f in diagnose(tmp_path).findings if f.name == "batch-repeated"]
    assert [f.onset for f in later] == [a.finding.onset for a in monitor.alarms if a.finding.name == "batch-repeated"]


def test_one_version_for_all_and_the_step_of_the_newest_row(tmp_path: Path) -> None:
    monitor = Monitor(tmp_path, algorithm="PPO")
    fresh = Freshness(monitor)
    fresh.rollout(3, current=5)
    monitor.log({"policy/entropy": 0.6}, step=7)
    assert monitor.latest["async/staleness_mean"] == 2.0
    fresh.batch([1.0])
    monitor.close()
    lines = [json.loads(line) for path in tmp_path.rglob("*.jsonl") for line in path.read_text().splitlines()]
    assert [line["step"] for line in lines if line["kind"] in ("rollout", "batch")] == [0, 7]


def test_after_going_back_the_same_batches_are_no_repeats() -> None:
    monitor = Monitor(None, algorithm="PPO", clock="updates", time_share=math.inf)
    fresh = Freshness(monitor)
    for update in [*range(10), *range(4, 14)]:
        if update == 4 and monitor.step == 9:
            monitor.rolled_back(4)
        fresh.batch(batch(update), step=update)
        monitor.log({"policy/entropy": 0.6}, step=update)
        assert monitor.latest["data/repeat_fraction"] == 0.0
    fresh.batch(batch(3), step=14)
    monitor.log({"policy/entropy": 0.6}, step=14)
    assert [(a.finding.name, a.at) for a in monitor.alarms] == [("batch-repeated", 14)]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 5)
    fresh = Freshness(Monitor(None))
    for seed in range(20):
        fresh.batch(seed)
        assert fresh.numbers() == {"data/repeat_fraction": 0.0}
    assert len(fresh._seen) == 5
    fresh.batch(19)
    assert fresh.numbers() == {"data/repeat_fraction": 1.0}


def test_what_is_no_version_and_no_step_are_faults_and_no_errors() -> None:
    monitor = Monitor(None)
    fresh = Freshness(monitor)
    fresh.rollout(["new"], current=1)  # type: ignore[list-item]
    fresh.batch([1.0], step="late")  # type: ignore[arg-type]
    assert fresh.numbers() == {}
    assert [fault.partition(":")[0] for fault in monitor.faults] == ["rollout", "batch"]
