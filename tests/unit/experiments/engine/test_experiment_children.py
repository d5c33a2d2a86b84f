"""Trials in real child processes that crash, hang, die, eat memory and are interrupted: answered, never raised."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from firstbreak.errors import InputError, MissingExtraError
from firstbreak.experiments import Subject
from firstbreak.experiments.running.executor import Job, Local, folder_of_its_own
from firstbreak.experiments.trial import Ended
from firstbreak.isolation import Limits

from .toy_experiments import HERE

LIMITS = Limits(seconds=60.0, silence_s=30.0, memory_bytes=600_000_000, printed_bytes=20_000_000)


def ran(how: str, limits: Limits = LIMITS, jobs: int = 1) -> list[Ended]:
    subject = Subject(given={"changed": 1.0, "changed_fails": [1], "how": how})
    heard: list[Ended] = []
    orders = [("changed", seed) for seed in range(3)]
    found = Local(jobs).run(Job(f"{HERE}:toy", subject, limits), orders, heard.append)
    assert [(e.arm, e.seed) for e in found] == orders
    assert sorted(e.seed for e in heard) == [0, 1, 2]
    assert [found[0].how, found[2].how] == ["measured", "measured"], "the others are not touched"
    assert found[0].measures["score"] != found[2].measures["score"]
    return found


@pytest.mark.parametrize(
    ("how", "ended", "message"),
    [
        ("raise", "raised", "RuntimeError"),
        ("exit", "raised", "SystemExit: 3"),
        ("die", "died", "SIGSEGV"),
        ("leave", "raised", "left a child behind"),
    ],
)
def test_a_trial_that_fails_takes_only_itself_along(how: str, ended: str, message: str) -> None:
    found = ran(how)[1]
    assert found.how == ended
    assert message in found.message


def test_a_trial_that_hangs_is_stopped_and_the_rest_is_run_in_a_fresh_child() -> None:
    assert ran("hang", replace(LIMITS, silence_s=4.0), jobs=2)[1].how == "hung"


def test_a_trial_that_never_ends_is_stopped_in_time() -> None:
    found = ran("spin", replace(LIMITS, seconds=2.0))[1]
    assert found.how == "too_slow"
    assert "2 s" in found.message


def test_a_trial_that_eats_memory_is_stopped() -> None:
    assert ran("eat")[1].how == "out_of_memory"


def test_a_refusal_of_the_child_is_the_users_error() -> None:
    with pytest.raises(InputError, match="no such part"):
        ran("refuse")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupt_leaves_no_process_and_no_folder_behind(tmp_path: Path, number: int) -> None:
    """A session of its own is ended while a trial hangs; afterwards nothing of it is alive, no trial has a folder."""
    folders = tmp_path / "folders"
    folders.mkdir()
    script = tmp_path / "go.py"
    script.write_text(
        "from firstbreak.experiments import Subject\n"
        "from firstbreak.experiments.running.executor import Job, Local\n"
        "from firstbreak.isolation import Limits\n"
        f"subject = Subject(given={{'changed': 1.0, 'control_fails': [0], 'how': 'hang', 'mark': {str(tmp_path)!r}}})\n"
        "print('begun', flush=True)\n"
        f"Local(2).run(Job({HERE + ':toy'!r}, subject, Limits()), [('control', 0), ('control', 0)], print)\n"
    )
    child = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "PYTHONPATH": os.getcwd(), "TMPDIR": str(folders)},
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "begun\n"
    deadline = time.monotonic() + 60
    while len(offspring(child.pid)) < 4 and time.monotonic() < deadline:  # two children, and a fork of each
        time.sleep(0.05)
    born = offspring(child.pid)
    assert len(born) >= 4
    assert list(folders.rglob("firstbreak-trial-*"))
    child.send_signal(number)
    assert child.wait(timeout=60) != 0
    child.stdout.close()
    deadline = time.monotonic() + 60
    while any(map(alive, born)) and time.monotonic() < deadline:  # the system takes its time to bury what was killed
        time.sleep(0.05)
    assert [pid for pid in born if alive(pid)] == []
    assert not list(folders.rglob("firstbreak-trial-*"))
    assert number == signal.SIGKILL or not list(folders.iterdir())  # who is killed cannot remove its own


def offspring(pid: int) -> list[int]:
    """All descendants of a process."""
    found = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True)
    parents = {int(line.split()[0]): int(line.split()[1]) for line in found.stdout.splitlines()}
    born, grown = [pid], True
    while grown:
        more = [p for p, parent in parents.items() if parent in born and p not in born]
        born, grown = born + more, bool(more)
    return [p for p in born[1:] if alive(p)]


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}


def test_ray_is_asked_for_by_name_where_it_is_missing() -> None:
    from importlib.util import find_spec

    from firstbreak.experiments.running.on_ray import OnRay

    assert find_spec("ray") is None
    with pytest.raises(MissingExtraError, match=r"firstbreak\[ray\]"):
        OnRay()


def test_a_folder_into_which_somebody_still_writes_is_gone_all_the_same() -> None:
    """A thread stands for a process that dies while its folder is removed: it goes on writing for a while."""
    with folder_of_its_own() as folder:
        until = time.monotonic() + 1.0

        def write() -> None:
            number = 0
            while time.monotonic() < until:
                number += 1
                with contextlib.suppress(OSError):
                    (folder / f"{number}").mkdir()

        thread = threading.Thread(target=write)
        thread.start()
    thread.join()
    assert not folder.exists()
