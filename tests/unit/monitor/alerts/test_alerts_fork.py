"""Real processes: a forked child neither hangs nor sends twice, and the end of the interpreter does not wait."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

from firstbreak.monitor.verdict import Notice

Make = Callable[..., Notice]

HEAD = """
import json, os, sys, threading, time
from firstbreak.finding import Severity
from firstbreak.monitor.alerts import *
from firstbreak.monitor.verdict import Notice
def notice(title):
    return Notice(Severity.ERROR, title, "", "", "R", "r", "l", "m", 1.0, "rows", "continue", 0.0)
"""


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program; one that hangs fails the test after a minute."""
    script = HEAD + textwrap.dedent(code)
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_forked_child_sends_its_own_notices_and_none_of_its_parents(tmp_path: Path) -> None:
    done = run(
        """
        hold, begun = threading.Event(), threading.Event()
        def gate(notice):
            if notice.title == "first":
                begun.set()
                hold.wait(50)
        path = sys.argv[1]
        post = Post([gate, File(path)])
        post.send(notice("first"))        # a thread is inside an alert, more is waiting
        begun.wait(50)
        post.send(notice("parent"))
        held, free = threading.Event(), threading.Event()
        def holds():
            with post._state:
                held.set()
                free.wait(50)
        threading.Thread(target=holds).start()
        held.wait(50)                     # another thread holds the lock at the fork
        child = os.fork()
        if child == 0:
            post.send(notice("child"))
            post.close(20)
            print(json.dumps([post.faults, [s.sent for s in post.standing()]]), flush=True)
            os._exit(0)
        free.set()
        status = os.waitpid(child, 0)[1]
        hold.set()
        post.close(20)
        print(status, json.dumps(post.faults))
        """,
        str(tmp_path / "f"),
    )
    assert done.stdout.splitlines() == ["[[], [1, 1]]", "0 []"], done.stderr
    titles = [json.loads(line)["title"] for line in (tmp_path / "f").read_text().splitlines()]
    assert sorted(titles) == ["child", "first", "parent"]


def test_workers_of_multiprocessing_end_and_send(tmp_path: Path) -> None:
    done = run(
        """
        import multiprocessing
        post = Post([File(sys.argv[1])])
        def work(i):
            post.send(notice(f"worker {i}"))
            post.close()
        post.send(notice("before"))
        post.drain(20)
        fork = multiprocessing.get_context("fork")
        workers = [fork.Process(target=work, args=(i,)) for i in range(3)]
        [w.start() for w in workers]; [w.join(20) for w in workers]
        print([w.exitcode for w in workers])
        """,
        str(tmp_path / "f"),
    )
    assert done.stdout == "[0, 0, 0]\n", done.stderr
    titles = [json.loads(line)["title"] for line in (tmp_path / "f").read_text().splitlines()]
    assert sorted(titles) == ["before", "worker 0", "worker 1", "worker 2"]


def test_a_child_leaves_the_port_to_its_parent() -> None:
    done = run(
        """
        import socket
        one = Prometheus(Readings(lambda: {"a": 1.0}), port=0)
        port = int(one.url.split(":")[2].split("/")[0])
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.read(read, 1)
            one.close()
            os._exit(0)
        one.close()
        socket.create_server(("127.0.0.1", port)).close()   # free although the child lives
        os.write(write, b"x")
        print(os.waitpid(child, 0)[1])
        """
    )
    assert done.stdout == "0\n", done.stderr


def test_a_program_that_forgets_to_close_still_sends_what_waits(tmp_path: Path) -> None:
    path = tmp_path / "f"
    done = run("post = Post([File(sys.argv[1])]); post.send(notice('last words'))", str(path))
    assert done.returncode == 0, done.stderr
    assert json.loads(path.read_text())["title"] == "last words"


def test_an_alarm_in_the_last_moment_of_the_interpreter_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "f"
    done = run(
        """
        import atexit
        post = Post([File(sys.argv[1])])
        atexit.register(lambda: (post.send(notice("at exit")), post.close()))
        """,
        str(path),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(path.read_text())["title"] == "at exit"


def test_the_end_of_the_interpreter_does_not_wait_for_an_alert_that_hangs() -> None:
    done = run(
        """
        post = Post([lambda notice: time.sleep(10_000)])
        one = Prometheus(port=0)
        post.send(notice("x"))
        print("end", flush=True)
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_a_killed_process_leaves_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "f"
    done = run(
        """
        class Last(File):
            def send(self, notice):
                super().send(notice)
                if notice.title == "50":
                    os.kill(os.getpid(), 9)
        post = Post([Last(sys.argv[1])])
        for i in range(100):
            post.send(notice(str(i)))
        post.drain(50)
        """,
        str(path),
    )
    assert done.returncode == -9
    titles = [json.loads(line)["title"] for line in path.read_text().splitlines()]
    assert titles == [str(i) for i in range(51)]


def test_a_child_that_is_forked_while_a_line_is_written_keeps_nobody_from_writing(tmp_path: Path) -> None:
    done = run(
        """
        import firstbreak.monitor.alerts.file as writing
        alert, write = File(sys.argv[1]), writing._write_line
        wait, go = os.pipe()
        children = []
        def forks(file, line):
            writing._write_line = write
            write(file, line)
            children.append(os.fork())        # as another thread may, at any time
            if not children[-1]:
                os.close(go)
                os.read(wait, 1)              # the parent has written again
                alert.send(notice("child"))
                os._exit(0)
        writing._write_line = forks
        alert.send(notice("first"))
        alert.send(notice("second"))
        os.close(go)
        print(os.waitpid(children[0], 0)[1])
        """,
        str(tmp_path / "f"),
    )
    assert done.stdout.split() == ["0"], done.stderr
    titles = [json.loads(line)["title"] for line in (tmp_path / "f").read_text().splitlines()]
    assert titles == ["first", "second", "child"]
