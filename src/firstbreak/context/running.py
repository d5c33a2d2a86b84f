"""Runs a command as if nothing were between it and the terminal, and notes how it ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..checkpoints import BEST, LAST, checkpoints, named
from ..errors import FirstbreakError
from . import store
from .contents import Context, Ending, Mark
from .gathering import now
from .hashing import mark

VARIABLE = "FIRSTBREAK_CONTEXT"
"""Tells the command where its record lies, so that `firstbreak.context.record` adds to it."""
NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""Exit statuses of a shell for a command that is not there, or may not be run."""
PASSED_ON = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCONT") if hasattr(signal, name)
)
"""Signals sent to us alone that are meant for the command. Ctrl-C reaches it by itself, through the terminal."""
MOST_CHECKPOINTS_BYTES = 32 << 30
"""Checkpoints are hashed at the end up to this size in all. Engineering default."""


@dataclass(frozen=True)
class Ran:
    """What became of the command: the exit status to pass on, and a sentence when something went wrong here."""

    status: int
    trouble: str = ""


def run(
    command: Sequence[str], context: Context, run_folder: Path, *, variables: Mapping[str, str] | None = None
) -> Ran:
    """Write the record, run the command with our own streams, and write how it ended.

    Raises:
        UnreadableError: the record cannot be written; the command is not started then.
    """
    store.keep_earlier(run_folder) if run_folder.is_dir() else None
    path = store.write(context, run_folder)
    start = time.monotonic()
    ending = _wait(command, context.folder, {**os.environ, **(variables or {}), VARIABLE: str(path.absolute())})
    ending = replace(ending, at=now(), duration_s=round(time.monotonic() - start, 3))
    status = ending.exit_status if ending.exit_status is not None else 1
    trouble = f"{command[0]} could not be started ({ending.error})" if ending.error else ""
    try:
        # The command may have added to its record meanwhile.
        latest = store.read(path)
        store.write(replace(latest, ending=ending, checkpoints=_saved(latest, run_folder)), run_folder)
    except FirstbreakError as error:
        return Ran(status, f"the record could not be finished: {error.message}")
    return Ran(status, trouble)


def _wait(command: Sequence[str], folder: str, variables: Mapping[str, str]) -> Ending:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with _signals() as child:
        try:
            process = subprocess.Popen(list(command), cwd=folder or None, env=dict(variables))  # noqa: S603 - the user's own
        except FileNotFoundError:
            return Ending("failed", NOT_FOUND, error="FileNotFoundError")
        except OSError as error:
            return Ending("failed", NOT_EXECUTABLE, error=type(error).__name__)
        child.append(process)
        code, peak = _reaped(process)
    if code < 0:
        return Ending("killed", 128 - code, _name(-code), peak_memory_bytes=peak)
    return Ending("finished" if code == 0 else "failed", code, peak_memory_bytes=peak)


def _reaped(process: subprocess.Popen[bytes]) -> tuple[int, int | None]:
    """Wait for the command; return its status (negative: the signal that ended it) and its peak memory."""
    if not hasattr(os, "wait4"):
        return process.wait(), None
    _, status, used = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    process.returncode = code
    return code, int(used.ru_maxrss) * (1 if sys.platform == "darwin" else 1024)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@contextlib.contextmanager
def _signals() -> Generator[list[subprocess.Popen[bytes]]]:
    """Leave Ctrl-C to the command and pass other signals on, as long as it runs."""
    child: list[subprocess.Popen[bytes]] = []

    def forward(number: int, frame: Any) -> None:
        for process in child:
            with contextlib.suppress(OSError):
                process.send_signal(number)

    def ignore(number: int, frame: Any) -> None:
        """Do nothing: unlike SIG_IGN, a handler is not inherited by the command."""

    before: dict[int, Any] = {}
    try:
        for number, handler in ((signal.SIGINT, ignore), *((number, forward) for number in PASSED_ON)):
            before[number] = signal.signal(number, handler)
    except ValueError:  # not the main thread: signals are not ours to handle
        before = {}
    try:
        yield child
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _saved(context: Context, folder: Path) -> tuple[Mark, ...]:
    """Mark the checkpoints below the folder of the run, those noted by the run itself first."""
    noted = {one.path for one in context.checkpoints}
    found: list[Mark] = list(context.checkpoints)
    left = MOST_CHECKPOINTS_BYTES
    # Those named best and last first: a release asks for them.
    for path in dict.fromkeys([*named(folder, (*BEST, *LAST)), *(path for _, _, path in checkpoints(folder))]):
        if str(path) in noted or path.resolve() == folder.resolve():
            continue
        size = path.stat().st_size if path.is_file() else 0
        found.append(
            mark(path) if size <= left else Mark(str(path), size_bytes=size, reason="not hashed: too many bytes")
        )
        left -= found[-1].size_bytes
    return tuple(found)
