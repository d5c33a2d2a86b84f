"""Whether the writer of a log lives."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from firstbreak.monitor.watching.process import alive, writer_of


def test_a_process_is_alive_until_it_ends_even_if_nobody_collected_it() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert child.stdin is not None
    assert alive(child.pid)
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended and is not yet collected
    assert not alive(child.pid)
    child.wait()
    assert not alive(child.pid)
    assert alive(os.getpid())
    assert alive(1)


@pytest.mark.parametrize(
    ("paths", "want"),
    [
        (["runs/events.out.tfevents.1795205939.here.18947.0"], 18947),
        (["runs/events.out.tfevents.1795205939.there.18947.0"], None),
        (["runs/events.out.tfevents.1795205939.here.18947.0", "events.out.tfevents.1795205940.here.5.1"], 5),
        (["runs/events.out.tfevents.1795205939.here.0.0", "x.csv"], None),
        (["runs/events.out.tfevents.1795205939.my.here.7.0"], None),
        ([], None),
    ],
)
def test_the_writer_is_known_by_the_name_of_an_event_file_of_this_machine(paths: list[str], want: int | None) -> None:
    assert writer_of(paths, "here") == want
