"""Full disks, folders of others, interrupts and SIGKILL: what is left can be read, and no leftovers stay."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from firstbreak.monitor.checkpoints.disk import HOST
from tests.unit.monitor.checkpoints.filling import saved, steps, store_in


def test_an_interrupt_leaves_nothing_and_is_not_swallowed(tmp_path: Path) -> None:
    def save(folder: Path, state: Any) -> None:
        raise KeyboardInterrupt

    store = store_in(tmp_path, save=save, load=lambda folder: None)
    with pytest.raises(KeyboardInterrupt):
        store.save(1, step=1)
    assert list(tmp_path.iterdir()) == []


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
