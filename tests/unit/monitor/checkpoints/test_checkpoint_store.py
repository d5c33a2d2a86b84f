"""Roles, the ring of saves, roll-backs, ranks, and functions of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak.monitor.checkpoints import CheckpointError, shared_step
from firstbreak.monitor.verdict import Notice, Severity
from tests.unit.monitor.checkpoints.filling import WALL, saved, steps, store_in


def test_roles_and_ring(tmp_path: Path) -> None:
    store = store_in(tmp_path, keep=2, clock="updates")
    assert (store.best, store.last, store.last_healthy, store.failed) == (None, None, None, None)
    for step, score in [(10, 1.0), (20, 5.0), (30, None), (40, 2.0), (50, None)]:
        saved(store, step, score=score)
    assert steps(store) == [20, 50]
    store.broke(45)
    for step in (60, 70):
        saved(store, step)
    assert [(one.step, one.healthy) for one in store.all] == [(20, True), (70, False)]
    assert (store.best.step, store.last.step, store.last_healthy.step) == (20, 70, 20)  # type: ignore[union-attr]
    last = store.last
    assert last is not None
    assert (last.clock, last.wall, last.holds, last.kind) == ("updates", WALL, ("w",), "save")
    assert last.versions["numpy"] == np.__version__
    assert last.size_bytes > 0


def test_the_newest_healthy_one_survives_any_number_of_broken_ones(tmp_path: Path) -> None:
    store = store_in(tmp_path, keep=3)
    saved(store, 1)
    saved(store, 2)
    store.broke(2)
    for step in range(3, 12):
        saved(store, step)
    assert store.last_healthy is not None
    assert store.last_healthy.step == 1
    assert len(store.all) == 3
    assert store.load("last_healthy")["w"][0] == 1
    store.mended()
    saved(store, 12)
    assert store.last_healthy.step == 12


def test_lower_can_be_better_and_an_infinite_score_is_none(tmp_path: Path) -> None:
    store = store_in(tmp_path, keep=1, higher_is_better=False)
    for step, score in enumerate([3.0, 1.0, 2.0, float("nan"), float("-inf")]):
        saved(store, step, score=score)
    assert store.best is not None
    assert (store.best.step, store.best.score) == (1, 1.0)
    assert store.last is not None
    assert store.last.score is None


def test_a_position_of_its_own_is_what_counts(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    saved(store, 1, at=1000)
    saved(store, 2, at=2000)
    store.broke(1500)
    assert [one.healthy for one in store.all] == [True, False]


def test_another_process_sees_the_marks(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    saved(store, 1)
    saved(store, 2)
    reader = store_in(tmp_path)
    store.broke(2)
    assert reader.last_healthy is not None
    assert reader.last_healthy.step == 1


def test_a_failed_state_keeps_batch_reason_notice_and_generators(tmp_path: Path) -> None:
    store = store_in(tmp_path, keep=2)
    notice = Notice(
        Severity.ERROR,
        "t",
        "x",
        "run",
        "NUM001",
        "n",
        "numerics",
        "m",
        3,
        "updates",
        "stop",
        0.0,
        evidence={"a": float("nan")},
    )
    for step in range(4):
        np.random.seed(step)
        store.fail(
            {"w": np.zeros(2)}, step=step, batch={"obs": np.ones((2, 3)) * step}, reason="NaN loss", notice=notice
        )
    assert store.all == []
    opened = store.open("failed")
    assert opened.checkpoint.reason == "NaN loss"
    assert opened.checkpoint.notice["evidence"] == {"a": "nan"}
    assert not opened.checkpoint.healthy
    assert opened.batch["obs"].sum() == 18
    np.random.seed(3)
    assert (opened.rng["numpy"]["state"]["key"] == np.random.get_state(legacy=False)["state"]["key"]).all()
    assert len(list(tmp_path.glob("failed-*"))) == 2


def test_roll_backs_are_on_record_and_limited(tmp_path: Path) -> None:
    store = store_in(tmp_path, max_roll_backs=2)
    saved(store, 1)
    saved(store, 2)
    for _ in range(2):
        store.broke(2)
        assert store.roll_back()[1] == 1
        saved(store, 2)
    store.broke(2)
    store = store_in(tmp_path, max_roll_backs=2)
    with pytest.raises(CheckpointError, match="2 times in a row"):
        store.roll_back()
    assert [(entry["step"], entry["broke_at"]) for entry in store.roll_backs] == [(1, 2), (1, 2)]
    assert store.resume()[1] == 1
    saved(store, 3)
    assert store.roll_back()[1] == 3


def test_ever_older_checkpoints_count_as_one_row_and_no_mark_is_taken_back(tmp_path: Path) -> None:
    store = store_in(tmp_path, keep=9, max_roll_backs=3)
    for step in range(1, 7):
        saved(store, step)
    for broke_at, back_to in ((6, 5), (5, 4), (4, 3)):
        store.broke(broke_at)
        assert store.roll_back()[1] == back_to
    store.broke(3)
    with pytest.raises(CheckpointError, match="3 times in a row"):
        store.roll_back()
    assert [one.step for one in store.all if one.healthy] == [1, 2]
    store.mended()
    saved(store, 7)  # healthy and newer: the run got further
    store.broke(8)
    assert store.roll_back()[1] == 7
    assert [one.step for one in store.all if one.healthy] == [1, 2, 7]


def test_the_limit_holds_when_the_record_cannot_be_written(tmp_path: Path) -> None:
    store = store_in(tmp_path, max_roll_backs=3)
    saved(store, 1)
    (tmp_path / "store.json").mkdir()
    (tmp_path / "store.json" / "x").touch()
    for _ in range(3):
        store.roll_back()
    with pytest.raises(CheckpointError, match="3 times"):
        store.roll_back()
    assert any("note the roll-back" in fault for fault in store.faults)


def test_own_functions_write_and_read(tmp_path: Path) -> None:
    def save(folder: Path, state: Any) -> None:
        (folder / "mine.txt").write_text(state)

    store = store_in(tmp_path, save=save, load=lambda folder: (folder / "mine.txt").read_text())
    assert store.save("hello", step=1)
    assert store.roll_back() == ("hello", 1)
    with pytest.raises(CheckpointError, match="function of yours"):
        store_in(tmp_path).load("last")
    with pytest.raises(CheckpointError, match="both"):
        store_in(tmp_path, save=save)
    path = store.save("again", step=2)
    assert path is not None
    (path / "state" / "mine.txt").write_text("agaim")
    assert store.load("last") == "hello"


def test_ranks_do_not_meet(tmp_path: Path) -> None:
    stores = [store_in(tmp_path, rank=rank, keep=1) for rank in range(2)]
    for rank, store in enumerate(stores):
        saved(store, 10 + rank)
    assert [store.load("last")["w"][0] for store in stores] == [10, 11]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["rank-0000", "rank-0001"]


def test_ranks_go_back_together_to_a_step_that_all_have(tmp_path: Path) -> None:
    assert shared_step(tmp_path) is None
    stores = [store_in(tmp_path, rank=rank) for rank in range(3)]
    for rank, store in enumerate(stores):
        for step in (10, 20, 30):
            if (rank, step) != (1, 30):
                saved(store, step)
    assert shared_step(tmp_path) == 20
    stores[2].broke(20)
    assert shared_step(tmp_path) == 10
    assert [store.roll_back(step=10)[1] for store in stores] == [10, 10, 10]
    with pytest.raises(CheckpointError, match="none of step 30"):
        stores[1].resume(step=30)


def test_two_stores_on_one_folder_corrupt_nothing(tmp_path: Path) -> None:
    one, two = store_in(tmp_path, keep=2), store_in(tmp_path, keep=2)
    for step in range(6):
        saved(one, step)
        saved(two, 100 + step)
    assert one.load("last")["w"][0] == two.load("last")["w"][0] == 105
    assert not one.faults
    assert not two.faults
