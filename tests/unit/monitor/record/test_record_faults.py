"""Everything that can happen to a file while it is written: each fault is caused for real, none stops the training."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from firstbreak.loading import load, load_runs
from firstbreak.monitor.record import Recorder, store
from firstbreak.monitor.record.part import Part
from firstbreak.runlog import RunLog


def steps_on_disk(folder: Path) -> list[int]:
    lines = [json.loads(x) for p in sorted((folder / "firstbreak").iterdir()) for x in p.read_text().splitlines()]
    return [int(line["step"]) for line in lines if line["kind"] == "metrics"]


def python(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_folder_that_cannot_be_made_is_said_once_and_rows_wait_in_memory(tmp_path: Path) -> None:
    blocked = tmp_path / "run"
    blocked.write_text("a file, where a folder should be")
    told: list[str] = []
    kept = Recorder(blocked, told=told.append)
    for step in range(100):
        kept.metrics({"x": step}, step)
    assert len(told) == 1
    assert "Not a directory" in told[0]
    assert kept.fault
    blocked.unlink()  # now there is room for the folder
    for step in range(100, 200):
        kept.metrics({"x": step}, step)
    kept.close()
    assert steps_on_disk(blocked) == list(range(200))
    assert len(told) == 2
    assert kept.fault == ""


def test_attempts_become_ever_rarer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts: list[int] = []

    class Counting(Part):
        def __init__(self, *arguments: Any) -> None:
            attempts.append(1)
            super().__init__(*arguments)

    monkeypatch.setattr(store, "Part", Counting)
    (tmp_path / "run").write_text("")
    kept = Recorder(tmp_path / "run")
    for step in range(5000):
        kept.metrics({"x": step}, step)
    assert 10 <= len(attempts) <= 16


def test_memory_stays_bounded_and_the_newest_rows_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_PENDING_BYTES", 10_000)
    blocked = tmp_path / "run"
    blocked.write_text("")
    told: list[str] = []
    kept = Recorder(blocked, told=told.append, clock="updates")
    for step in range(3000):
        kept.metrics({"x": step}, step)
    assert kept.lost > 2500
    lost = kept.lost
    blocked.unlink()
    kept.close()
    assert steps_on_disk(blocked) == list(range(lost, 3000))
    assert f"{lost} lines were given up" in told[-1]
    (problem,) = load(blocked).provenance.problems
    assert f"{lost} lines of this process are not there" in str(problem)


def test_a_full_disk_leaves_whole_lines_and_recording_goes_on_when_there_is_room(tmp_path: Path) -> None:
    """The device /dev/full answers every write as a full disk does; our descriptor is pointed at it for a while."""
    told: list[str] = []
    kept = Recorder(tmp_path, told=told.append)
    kept.metrics({"x": 0}, 0)
    part = kept._store.part
    assert part is not None
    real, full = os.dup(part._fd), os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, part._fd)
    for step in range(1, 50):
        kept.metrics({"x": step}, step)
    assert len(told) == 1
    assert os.strerror(errno.ENOSPC) in told[0]
    os.dup2(real, part._fd)
    for step in range(50, 100):
        kept.metrics({"x": step}, step)
    os.close(real)
    os.close(full)
    kept.close()
    assert steps_on_disk(tmp_path) == list(range(100))
    assert len(list((tmp_path / "firstbreak").iterdir())) == 1


LIMITED = """
import resource, signal, sys
from firstbreak.monitor.record import Recorder
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))  # a write that crosses it is cut short, the next one fails
told = []
kept = Recorder(sys.argv[1], told=told.append)
for step in range(400):
    kept.metrics({"loss": step / 7, "kl": 0.1}, step)
kept.close()
print(kept.fault, len(told), kept.lost)
"""


def test_a_write_that_is_cut_short_leaves_no_torn_line(tmp_path: Path) -> None:
    ran = python(LIMITED, tmp_path)
    assert ran.returncode == 0, ran.stderr
    parts = sorted((tmp_path / "firstbreak").iterdir())
    assert len(parts) > 10
    assert all(part.stat().st_size <= 3000 for part in parts)
    assert all(part.read_bytes().endswith(b'"}\n') for part in parts)
    assert steps_on_disk(tmp_path) == list(range(400))
    assert load(tmp_path).provenance.problems == ()


def test_a_torn_line_that_cannot_be_cut_off_is_ended(tmp_path: Path) -> None:
    """A pipe that is nearly full is written short, and nothing can be cut off it."""
    part = Part(tmp_path, 0)
    listen, speak = os.pipe()
    os.set_blocking(speak, False)
    os.dup2(speak, part._fd)
    os.write(speak, b"." * (14 * 4096 - 1) + b"\n")
    lines = [b"a" * 5000 + b"\n", b"b" * 5000 + b"\n"]
    with pytest.raises(BlockingIOError):
        part.append(lines)
    assert [line[:1] for line in lines] == [b"b"]
    said = os.read(listen, 1 << 20)
    part.append(lines)
    part.close()
    os.close(speak)
    said += os.read(listen, 1 << 20)
    os.close(listen)
    whole, torn, again = said.splitlines()[1:]
    assert (whole, again) == (b"a" * 5000, b"b" * 5000)
    assert 0 < len(torn) < 5000


def test_a_folder_that_is_deleted_is_made_again(tmp_path: Path) -> None:
    told: list[str] = []
    kept = Recorder(tmp_path / "run", told=told.append)
    for step in range(100):
        if step == 50:
            shutil.rmtree(tmp_path / "run")
        kept.metrics({"x": step}, step)
    kept.close()
    left = steps_on_disk(tmp_path / "run")
    assert left == list(range(left[0], 100))
    assert left[0] <= 50 + store.LOOK_EVERY
    assert len(told) == 1


def test_a_folder_replaced_by_a_file_is_survived(tmp_path: Path) -> None:
    kept = Recorder(tmp_path / "run")
    kept.metrics({"x": 0}, 0)
    shutil.rmtree(tmp_path / "run")
    (tmp_path / "run").write_text("")
    for step in range(1, 100):
        kept.metrics({"x": step}, step)
    assert "Not a directory" in kept.fault
    kept.close()


def test_a_path_that_no_path_can_be_is_survived() -> None:
    kept = Recorder("a\0b")
    kept.metrics({"x": 0}, 0)
    kept.close()
    assert kept.fault


def test_a_listener_that_fails_is_not_asked_again(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")

    def fail(sentence: str) -> None:
        raise RuntimeError(sentence)

    kept = Recorder(tmp_path / "run", told=fail)
    kept.metrics({"x": 0}, 0)
    (tmp_path / "run").unlink()
    kept.close()
    assert steps_on_disk(tmp_path / "run") == [0]


def test_a_run_begun_twice_is_told_of_the_other_and_a_resumed_one_of_nobody(tmp_path: Path) -> None:
    told: list[str] = []
    first, second = Recorder(tmp_path, told=told.append), Recorder(tmp_path, told=told.append)
    first.metrics({"loss": 1.0}, 0)
    assert told == []
    for step in range(3):
        second.metrics({"loss": 2.0}, step)
    (text,) = told
    assert text.startswith(f"record-0-00001.jsonl in {tmp_path / 'firstbreak'} is written beside this record")
    first.close()
    second.close()
    Recorder(tmp_path, told=told.append).metrics({"loss": 3.0}, 3)
    Recorder(tmp_path, rank=1, told=told.append).metrics({"loss": 3.0}, 3)
    assert len(told) == 1


BESIDE = """
import sys
from firstbreak.monitor.record import Recorder
kept = Recorder(sys.argv[1], algorithm="PPO", clock="updates")
print("ready", flush=True)
for line in sys.stdin:
    kept.metrics({"critic/loss": float(sys.argv[2]), "policy/loss": 2.0}, int(line))
    print("done", flush=True)
"""


def test_two_processes_on_one_folder_are_two_runs_and_harm_nothing(tmp_path: Path) -> None:
    several = [
        subprocess.Popen([sys.executable, "-c", BESIDE, str(tmp_path), loss], stdin=-1, stdout=-1, text=True, bufsize=1)
        for loss in "12"
    ]
    for process in several:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for step in range(20):
        for process in several:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{step}\n")
            process.stdin.flush()
            assert process.stdout.readline() == "done\n"
    for process in several:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    runs = load_runs(tmp_path)
    assert sorted(losses(run) for run in runs) == [[1.0] * 20, [2.0] * 20]
    assert all("2 runs" in str(run.provenance.problems) or "other runs" in str(run.provenance.problems) for run in runs)
    resumed = Recorder(tmp_path, clock="updates")
    resumed.metrics({"critic/loss": 3.0}, 10)
    resumed.close()
    assert sorted(len(losses(run)) for run in load_runs(tmp_path)) == [11, 20]


def losses(run: RunLog) -> list[float]:
    series = run.get("critic/loss")
    assert series is not None
    return series.value.tolist()


def test_a_forked_child_writes_a_part_of_its_own(tmp_path: Path) -> None:
    script = """
import os, sys
from firstbreak.monitor.record import Recorder
kept = Recorder(sys.argv[1], clock="updates", buffer_rows=8)
for step in range(10):
    kept.metrics({"loss": 1.0}, step)
kept._lock.acquire()  # another thread of the parent may hold it at the moment of the fork
if os.fork() == 0:
    for step in range(10):
        kept.metrics({"loss": 2.0}, step)
    sys.exit(0)
os.wait()
kept._lock.release()
kept.metrics({"loss": 1.0}, 10)
"""
    ran = python(script, tmp_path)
    assert ran.returncode == 0, ran.stderr
    own, child = sorted((tmp_path / "firstbreak").iterdir())
    assert steps_on_disk(tmp_path) == [*range(11), *range(10)]
    assert b'"beside":["record-0-00001.jsonl"]' in child.read_bytes()
    assert b'"loss":2' not in own.read_bytes()


def work(kept: Recorder, steps: int) -> None:
    for step in range(steps):
        kept.metrics({"loss": 2.0}, step)
    kept.close()


def test_a_spawned_worker_writes_a_part_of_its_own(tmp_path: Path) -> None:
    kept = Recorder(tmp_path, clock="updates")
    kept.metrics({"loss": 1.0}, 0)
    worker = multiprocessing.get_context("spawn").Process(target=work, args=(kept, 5))
    worker.start()
    worker.join()
    assert worker.exitcode == 0
    kept.metrics({"loss": 1.0}, 1)
    kept.close()
    assert steps_on_disk(tmp_path) == [0, 1, *range(5)]


def test_many_ranks_start_at_once_without_meeting(tmp_path: Path) -> None:
    workers = [
        multiprocessing.get_context("fork").Process(target=work, args=(Recorder(tmp_path, rank=rank), 20))
        for rank in (0, 1, 1, 2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    names = sorted(path.name for path in (tmp_path / "firstbreak").iterdir())
    assert [name[:8] for name in names] == ["record-0", "record-1", "record-1", "record-2"]
    assert len(steps_on_disk(tmp_path)) == 80


KILLED = """
import os, signal, sys
from firstbreak.monitor.record import Recorder
kept = Recorder(sys.argv[1], buffer_rows=int(sys.argv[2]))
for step in range(100):
    kept.metrics({"x": step}, step)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(("buffer", "rows"), [(1, 100), (32, 96)])
def test_a_killed_process_loses_only_what_it_buffered(tmp_path: Path, buffer: int, rows: int) -> None:
    assert python(KILLED, tmp_path, buffer).returncode == -signal.SIGKILL
    assert steps_on_disk(tmp_path) == list(range(rows))


def test_what_is_buffered_is_written_when_the_interpreter_ends(tmp_path: Path) -> None:
    ends = KILLED.replace("os.kill(os.getpid(), signal.SIGKILL)", "raise RuntimeError('training failed')")
    assert python(ends, tmp_path, 1000).returncode == 1
    assert steps_on_disk(tmp_path) == list(range(100))


@pytest.mark.parametrize("size", [20, 217])
def test_a_kill_within_a_write_costs_the_line_that_nobody_was_told_of(tmp_path: Path, size: int) -> None:
    """Linux ends a write at a kill between two pages of memory: the part then ends with a piece of a line."""
    for life in (0, 1):
        kept = Recorder(tmp_path, algorithm="PPO")
        for step in range(5 * life, 5 * life + 5):
            kept.metrics({"policy/entropy": 0.5 + step / 100}, step)
        kept.close()
    whole = load(tmp_path)
    piece = b'{"seq":9,"kind":"metrics","step":263,"metrics":{' + b'"policy/kl_old":0.008,' * 20
    for part in (tmp_path / "firstbreak").iterdir():
        part.write_bytes(part.read_bytes() + piece[:size])
    torn = load(tmp_path)
    assert len(torn.provenance.problems) == len(whole.provenance.problems) + 2
    assert torn.get("policy/entropy") is not None
    for one, other in zip(whole.series, torn.series, strict=True):
        assert one.metric == other.metric
        assert one.value.tolist() == other.value.tolist()
