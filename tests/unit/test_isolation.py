"""Children that raise, hang, die, print, fork or eat memory: each is caused for real."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from firstbreak.errors import InputError
from firstbreak.isolation import How, Limits, run
from firstbreak.isolation.child import Wire
from firstbreak.isolation.journal import Journal, read_journal
from firstbreak.isolation.memory import group_alive, resident_bytes

TASKS = """
import os, sys, time

def well(payload, wire):
    wire.tell("number", value=payload["value"] + 1)
    wire.tell("number", value=float("nan"))

def talks(payload, wire):
    print("x" * 10_000)
    print("last words", file=sys.stderr)

def raises(payload, wire):
    wire.journal.begin("reset", 7)
    wire.journal.act(1)
    raise ValueError("no such thing")

def refuses(payload, wire):
    from firstbreak.errors import InputError
    raise InputError("Not that.", "This.")

def hangs(payload, wire):
    wire.journal.begin("reset", 3)
    for action in range(4):
        wire.journal.act([action, 0.5])
    time.sleep(60)

def works_long(payload, wire):
    while True:
        wire.journal.act(0)
        time.sleep(0.01)

def dies(payload, wire):
    os._exit(5)

def crashes(payload, wire):
    os.kill(os.getpid(), 11)

def eats(payload, wire):
    eaten = []
    while True:
        eaten.append(bytearray(20_000_000))
        time.sleep(0.005)

def leaves_a_child(payload, wire):
    if os.fork() == 0:
        time.sleep(60)

def waits(payload, wire):
    with open("waits", "w") as file:
        file.write(str(os.getpid()))
    time.sleep(100)

def leaves_a_hidden_child(payload, wire):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with open("hidden", "w") as file:
                file.write(str(os.getpid()))
            time.sleep(60)
        os._exit(0)
    os.wait()
    while not os.path.exists("hidden"):
        time.sleep(0.01)

def copies_itself(payload, wire):
    wire.journal.begin("reset", 1)
    os.fork()
    wire.journal.act(0)
    os.fork()
    wire.tell("number", value=os.getpid())

def copy_raises(payload, wire):
    wire.journal.begin("make")
    if os.fork() == 0:
        raise ValueError("on the other side")
    os.wait()

def has_a_worker(payload, wire):
    import multiprocessing
    def work():
        wire.journal.act("of a worker")
        wire.tell("beat", worker=True)
        end.put(1)
    end = multiprocessing.get_context("fork").SimpleQueue()
    wire.journal.begin("train")
    worker = multiprocessing.get_context("fork").Process(target=work)
    worker.start()
    end.get()
    worker.join()

def works_in_a_fork(payload, wire):
    pid = os.fork()
    if pid == 0:
        wire.journal.original.adopt()
        wire.tell("number", value=1)
        os._exit(0)
    os.waitpid(pid, 0)

def floods(payload, wire):
    while True:
        os.write(1, b"x" * (1 << 20))
"""


@pytest.fixture(autouse=True)
def _tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tasks_of_a_child.py").write_text(TASKS)
    monkeypatch.chdir(tmp_path)


def test_a_task_that_ends_well_is_heard_message_by_message() -> None:
    heard: list[dict[str, Any]] = []
    ending = run("tasks_of_a_child:well", {"value": 1}, hear=heard.append)
    assert ending.how is How.FINISHED
    assert [m["kind"] for m in heard] == ["number", "number", "finished"]
    assert heard[0]["value"] == 2
    assert heard[1]["value"] != heard[1]["value"]


def test_what_it_prints_is_kept_in_part_and_counted() -> None:
    ending = run("tasks_of_a_child:talks", {})
    assert ending.how is How.FINISHED
    assert ending.printed_bytes == 10_000 + 1 + len("last words\n")
    assert ending.printed.endswith("last words\n")
    assert len(ending.printed) <= 4000


def test_an_exception_is_told_with_the_call_under_way() -> None:
    ending = run("tasks_of_a_child:raises", {})
    assert (ending.how, ending.message) == (How.RAISED, "ValueError: no such thing")
    assert (ending.call, ending.seed, ending.actions) == ("step", 7, (1,))
    assert "in raises" in ending.trace


def test_a_refusal_is_raised_here() -> None:
    with pytest.raises(InputError, match="Not that"):
        run("tasks_of_a_child:refuses", {})


@pytest.mark.parametrize(
    ("task", "limits", "how"),
    [
        ("hangs", Limits(silence_s=0.5), How.HUNG),
        ("works_long", Limits(seconds=0.8, silence_s=0.5), How.TOO_SLOW),
        ("eats", Limits(memory_bytes=300_000_000), How.OUT_OF_MEMORY),
        ("dies", Limits(), How.DIED),
        ("crashes", Limits(), How.DIED),
        ("floods", Limits(seconds=60, printed_bytes=50_000_000), How.TOO_LOUD),
    ],
)
def test_every_bad_end_is_told_apart(task: str, limits: Limits, how: How) -> None:
    assert run(f"tasks_of_a_child:{task}", {}, limits=limits).how is how


def test_a_hang_is_told_with_the_actions_that_led_to_it() -> None:
    ending = run("tasks_of_a_child:hangs", {}, limits=Limits(silence_s=0.5))
    assert (ending.call, ending.seed) == ("step", 3)
    assert ending.actions == ([0, 0.5], [1, 0.5], [2, 0.5], [3, 0.5])


def test_a_silent_child_can_be_given_up() -> None:
    looks: list[int] = []

    def between() -> None:
        looks.append(0)
        if len(looks) == 3:
            raise RuntimeError("enough")

    start = time.monotonic()
    with pytest.raises(RuntimeError, match="enough"):
        run("tasks_of_a_child:hangs", {}, limits=Limits(silence_s=50.0), between=between)
    assert time.monotonic() - start < 20


def test_a_signal_is_named() -> None:
    assert "SIGSEGV" in run("tasks_of_a_child:crashes", {}).message


def test_processes_left_behind_are_told_and_stopped() -> None:
    ending = run("tasks_of_a_child:leaves_a_child", {})
    assert (ending.how, ending.leftovers) == (How.FINISHED, True)


def test_a_process_that_hid_from_its_group_is_told_and_stopped(tmp_path: Path) -> None:
    ending = run("tasks_of_a_child:leaves_a_hidden_child", {})
    assert (ending.how, ending.leftovers) == (How.FINISHED, True)
    pid = int((tmp_path / "hidden").read_text())
    deadline = time.monotonic() + 5.0
    while running(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not running(pid)


def test_a_copy_that_comes_back_is_stopped_and_counted_with_its_call() -> None:
    heard: list[dict[str, Any]] = []
    ending = run("tasks_of_a_child:copies_itself", {}, hear=heard.append)
    assert ending.how is How.FINISHED
    assert [m["kind"] for m in heard] == ["number", "finished"]  # of one process only
    assert ending.copies.count == 2
    assert ending.copies.call in ("reset", "step")
    assert "returned twice" in ending.copies.words


def test_a_copy_that_raises_is_no_exception_of_the_child() -> None:
    ending = run("tasks_of_a_child:copy_raises", {})
    assert (ending.how, ending.copies.count, ending.copies.call) == (How.FINISHED, 1, "make")


def test_a_worker_is_no_copy_and_its_sign_of_life_is_heard() -> None:
    heard: list[dict[str, Any]] = []
    ending = run("tasks_of_a_child:has_a_worker", {}, hear=heard.append)
    assert (ending.how, ending.copies.count, ending.copies.words) == (How.FINISHED, 0, "")
    assert {"kind": "beat", "worker": True} in heard
    assert ending.actions == ()  # it does not write into the child's journal


def test_a_fork_made_on_purpose_may_speak() -> None:
    heard: list[dict[str, Any]] = []
    ending = run("tasks_of_a_child:works_in_a_fork", {}, hear=heard.append)
    assert (ending.how, ending.copies.count) == (How.FINISHED, 0)
    assert heard[0] == {"kind": "number", "value": 1}


def test_memory_of_a_group_is_that_of_its_processes() -> None:
    group = os.getpgid(0)
    assert resident_bytes(group) > 1_000_000
    assert group_alive(group)
    assert resident_bytes(2**22 + 1) == 0
    assert not group_alive(2**22 + 1)


def test_a_journal_holds_the_episode_under_way_and_survives_a_torn_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.begin("reset", 1)
    journal.act(5)
    journal.begin("reset", 2)
    journal.act({"a": (1, 2)})
    journal.during("policy")
    journal.close()
    with (tmp_path / "j").open("ab") as file:
        file.write(b'{"call": "st')
    account = read_journal(tmp_path / "j")
    assert (account.call, account.seed, account.actions) == ("policy", 2, ({"a": [1, 2]},))
    assert read_journal(tmp_path / "absent").actions == ()


def test_a_wire_to_nowhere_says_nothing() -> None:
    wire = Wire(-1, None)
    assert wire.tell("anything", value=1) is None
    wire.journal.begin("reset")
    wire.journal.act(0)
    wire.journal.close()


def test_a_child_that_hangs_ends_with_its_killed_parent(tmp_path: Path) -> None:
    code = "from firstbreak.isolation import run; run('tasks_of_a_child:waits', {})"
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
    waited = tmp_path / "waits"
    deadline = time.monotonic() + 60.0
    while not (waited.exists() and waited.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    pid = int(waited.read_text())
    parent.kill()
    parent.wait()
    while running(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not running(pid)


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False
