"""Roles, damage, faults of the disk, and what is left after them."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from firstbreak.monitor.checkpoints import CheckpointError, Checkpoints, shared_step
from firstbreak.monitor.checkpoints.disk import HOST, marks
from firstbreak.monitor.checkpoints.manifest import MANIFEST, _seal
from firstbreak.monitor.verdict import Notice, Severity

WALL = 1e9


def store_in(folder: Path, **settings: Any) -> Checkpoints:
    return Checkpoints(folder, now=lambda: WALL, **settings)


def steps(store: Checkpoints) -> list[float]:
    return [one.step for one in store.all]


def saved(store: Checkpoints, step: float, **more: Any) -> Path:
    path = store.save({"w": np.full(3, step)}, step=step, **more)
    assert path is not None, list(store.faults)
    return path


def reseal(path: Path) -> None:
    """Make the manifest agree with the files."""
    body = json.loads((path / MANIFEST).read_text())
    body.pop("sha256")
    body["files"] = {name: mark for name, mark in marks(path).items() if name != MANIFEST}
    (path / MANIFEST).write_text(json.dumps({**body, "sha256": _seal(body)}))


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


@pytest.mark.parametrize("how", ["flip", "cut", "gone", "more", "link"])
@pytest.mark.parametrize("name", ["manifest.json", "tree.json", "arrays.npz"])
def test_damage_is_noticed_named_and_passed_over(tmp_path: Path, how: str, name: str) -> None:
    store = store_in(tmp_path)
    saved(store, 1)
    file = saved(store, 2) / name
    data = bytearray(file.read_bytes())
    if how == "flip":
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    elif how == "cut":
        file.write_bytes(data[:-7])
    elif how == "gone":
        file.unlink()
    elif how == "more":
        (file.parent / f"{name}.more").write_bytes(b"x")
    else:
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")
    assert store.load("last")["w"][0] == 1
    assert any(str(file.parent) in fault for fault in store.faults)
    with pytest.raises(CheckpointError, match=file.parent.name):
        store.load(file.parent)
    saved(store, 3)
    assert store.load("last")["w"][0] == 3


def test_when_all_are_damaged_the_error_names_each(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for step in (1, 2):
        (saved(store, step) / "arrays.npz").write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"(?s)save-000002.*save-000001"):
        store.load("last_healthy")


def test_nothing_saved_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="There is none"):
        store_in(tmp_path / "none").roll_back()


def test_a_damaged_ledger_is_a_fault_and_not_the_end(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    saved(store, 1)
    store.broke(5)
    (tmp_path / "store.json").write_text("{")
    again = store_in(tmp_path)
    assert again.last_healthy is not None
    assert "store.json" in again.faults[0]


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


@pytest.mark.parametrize("keep", [0, -1])
def test_at_least_one_is_kept(tmp_path: Path, keep: int) -> None:
    with pytest.raises(CheckpointError, match="keep"):
        store_in(tmp_path, keep=keep)


@pytest.mark.parametrize("state", [{"f": lambda: 0}, {"o": object()}, {1: {2: {3}}, "x": (open,)}])
def test_a_state_that_cannot_be_kept_does_not_stop_training(tmp_path: Path, state: Any) -> None:
    store = store_in(tmp_path)
    assert store.save(state, step=1) is None
    assert "not plain data" in store.faults[-1]
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CheckpointError):
        store_in(tmp_path, strict=True).save(state, step=1)


@pytest.mark.parametrize("step", [float("nan"), float("inf"), "x", None])
def test_a_bad_step_is_a_fault(tmp_path: Path, step: Any) -> None:
    store = store_in(tmp_path)
    assert store.save({}, step=step) is None
    assert len(store.faults) == 1


def test_wrong_arguments_of_a_failure_are_faults(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    assert store.fail({}, step=1, reason="r", notice=5) is None
    assert store.fail({}, step=1, reason="r", notice={"x": object()}) is None
    assert store.save({}, step=1, score="high") is None  # type: ignore[arg-type]
    assert len(store.faults) == 3
    assert list(tmp_path.iterdir()) == []


def test_generators_of_another_version_are_a_fault_and_the_state_still_comes(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    path = saved(store, 1)
    tree = json.loads((path / "tree.json").read_text())
    tree["rng"]["python"]["version"] = 99
    (path / "tree.json").write_text(json.dumps(tree))
    reseal(path)
    assert store.roll_back()[1] == 1
    assert "random generators" in store.faults[-1]


def test_an_interrupt_leaves_nothing_and_is_not_swallowed(tmp_path: Path) -> None:
    def save(folder: Path, state: Any) -> None:
        raise KeyboardInterrupt

    store = store_in(tmp_path, save=save, load=lambda folder: None)
    with pytest.raises(KeyboardInterrupt):
        store.save(1, step=1)
    assert list(tmp_path.iterdir()) == []


def test_a_vanished_folder_is_made_again(tmp_path: Path) -> None:
    store = store_in(tmp_path / "s")
    saved(store, 1)
    store.broke(1)
    shutil.rmtree(tmp_path / "s")
    assert store.last is None
    store.broke(1)
    with pytest.raises(CheckpointError):
        store.load()
    store.mended()
    assert saved(store, 2).name == "save-000002"
    assert store.load()["w"][0] == 2


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    store = store_in(tmp_path / "f")
    assert store.save({}, step=1) is None
    store.broke(3)
    assert store.last is None
    with pytest.raises(CheckpointError):
        store.roll_back()


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


def test_only_our_own_leftovers_of_dead_processes_are_cleaned(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    ours = [f".save-000009.{HOST}-{dead.pid}-0.tmp", f".failed-000001.{HOST}-{os.getpid()}-99999.tmp"]
    old = f".save-000003.{'0' * 8}-1-0.tmp"
    kept = [
        f".save-000001.{HOST}-{os.getppid()}-0.tmp",
        f".save-000002.{'0' * 8}-1-0.tmp",
        ".tmp",
        "save-1",
        ".save-x.tmp",
    ]
    for name in [*ours, old, *kept]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "part").touch()
    lone = tmp_path / f".store.json.{HOST}-{dead.pid}-3.tmp"
    lone.touch()
    os.utime(tmp_path / old, (0, 0))
    store_in(tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == set(kept)


BIG: dict[str, dict[str, Any]] = {
    "numpy": {"w": np.ones(100_000)},
    "torch": {"t": torch.ones(100_000)},
    "plain": {"w": [0.5] * 50_000},
}


@pytest.mark.parametrize("kind", BIG)
def test_a_full_disk_costs_the_save_only(tmp_path: Path, kind: str) -> None:
    store = store_in(tmp_path)
    saved(store, 1)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        assert store.save(BIG[kind], step=2) is None
        assert "File too large" in store.faults[-1]
        assert [p.name for p in tmp_path.iterdir()] == ["save-000001"]
        assert store.load("last")["w"][0] == 1
        saved(store, 3)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert store.save(BIG[kind], step=4)
    assert steps(store) == [1, 3, 4]


READ_ONLY = """
import os, sys
import numpy as np
from firstbreak.monitor.checkpoints import Checkpoints
store = Checkpoints(sys.argv[1])
assert store.save({"w": np.ones(10)}, step=1)
assert store.load("last")["w"].sum() == 10
os.chmod(sys.argv[1], 0o555)
if os.geteuid() == 0:
    os.seteuid(65534)
assert store.save({"w": 1}, step=2) is None
assert "Permission" in store.faults[-1], store.faults[-1]
store.broke(1)
assert store.last_healthy is None and store.load("last")["w"].sum() == 10
assert os.listdir(sys.argv[1]) == ["save-000001"]
print("survived")
"""


def test_a_read_only_folder_costs_the_save_only(tmp_path: Path) -> None:
    own = Path(tempfile.gettempdir())
    for folder in (tmp_path, *tmp_path.parents):  # another user must reach it
        if own in folder.parents:
            folder.chmod(0o755)
    command = [sys.executable, "-c", READ_ONLY, str(tmp_path / "s")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "survived\n", done.stderr


KILLS = """
import os, random, signal, sys
import numpy as np
from firstbreak.monitor.checkpoints import Checkpoints

def work(folder, say):
    store = Checkpoints(folder, keep=2)
    for step in range(5):
        state = {"w": np.full(50, step), "text": "x" * 100}
        assert store.save(state, step=step, score=-step)
        say(step)
        if step == 3:
            store.broke(2)
            say(99)
    store.fail({"w": 1}, step=9, reason="test")
    say(100)

calls = 0
def count(frame, event, arg):
    global calls
    calls += event == "c_call"
    if calls == moment:
        os.kill(os.getpid(), signal.SIGKILL)

moment = -1
work(sys.argv[1] + "/first", lambda step: None)  # what is done only once in a process is not counted
sys.setprofile(count)
work(sys.argv[1] + "/whole", lambda step: None)
sys.setprofile(None)
total, draw = calls, random.Random(7)
for trial in range(30):
    folder, moment, calls = f"{sys.argv[1]}/{trial}", draw.randrange(1, total * 98 // 100), 0
    told, say = os.pipe()
    child = os.fork()
    if not child:
        sys.setprofile(count)
        work(folder, lambda step: os.write(say, bytes([step])))
        os._exit(0)
    os.close(say)
    acknowledged = list(os.read(told, 100))
    while more := os.read(told, 100):
        acknowledged += list(more)
    os.close(told)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    store = Checkpoints(folder, keep=2)
    steps = [one.step for one in store.all]
    written = [step for step in acknowledged if step < 99]
    for one in store.all:
        assert (store.load(one.path)["w"] == one.step).all()
    if written:
        assert store.last.step in (written[-1], written[-1] + 1), (acknowledged, steps)
        assert store.best.step == 0
    if 99 in acknowledged:
        assert store.last_healthy.step == 0
        assert all(one.healthy == (one.step < 2) for one in store.all if one.step < 4)
    if 100 in acknowledged:
        assert store.failed.step == 9
    assert not store.faults, store.faults
    assert not [name for name in (os.listdir(folder) if os.path.isdir(folder) else []) if name.startswith(".")]
    assert store.save({"w": 5}, step=50) and store.last.step == 50
    print("killed", len(acknowledged))
"""


def test_kill_9_at_any_moment_leaves_a_store_that_loads(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLS, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 30
    assert len(set(lines)) >= 5
