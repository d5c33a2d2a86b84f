"""Whether the process that writes a log is alive, where its number is known and it runs on this machine."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable
from pathlib import Path

_EVENTS = re.compile(r"^events\.out\.tfevents\.\d+\.(?P<host>.+)\.(?P<pid>\d+)\.\d+$")
"""How TensorBoard's writers name their files: time, host, process, count."""


def alive(pid: int) -> bool:
    """Whether process `pid` runs on this machine; one that ended and was not yet collected does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it runs and is not ours
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:  # no such place on this system
        return True
    return not state or state[0] not in {"Z", "X"}


def writer_of(paths: Iterable[str], host: str | None = None) -> int | None:
    """Return the process that writes the newest event file among `paths`, if its name says that it runs here."""
    here = socket.gethostname() if host is None else host
    names = sorted(Path(path).name for path in paths)
    found = [match for match in map(_EVENTS.match, names) if match is not None]
    return int(found[-1]["pid"]) if found and found[-1]["host"] == here and int(found[-1]["pid"]) > 1 else None
