"""The child's side: `python -m firstbreak.isolation.child TASK PIPE JOURNAL` runs one task, reporting over the pipe."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from ..errors import FirstbreakError
from .journal import Journal

SET_PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of prctl(2), Linux."""
FROM_ANYBODY = frozenset({"beat", "forked"})
"""Kinds of message that a copy of the child may send: a sign of life of a worker, and that it is a copy."""


class Wire:
    """How a task talks to the parent: `tell` sends one message, `journal` says what is under way."""

    def __init__(self, pipe: int, journal: Path | None) -> None:
        self._pipe = pipe
        self.journal = Journal(journal)

    def tell(self, kind: str, **data: Any) -> None:
        """Send one message of `kind`; `data` must be plain (numbers, texts, lists, dictionaries)."""
        if kind not in FROM_ANYBODY:
            self.journal.original.leave_if_copy(self.journal.call)
        if self._pipe >= 0:
            text = json.dumps({"kind": kind, **data}, default=str) + "\n"
            view = memoryview(text.encode())
            while view:
                view = view[os.write(self._pipe, view) :]


def outlive_parent() -> None:
    """Do not end with the parent: for a task that watches its parent and cleans up after it."""
    _when_parent_dies(0)


def _when_parent_dies(number: int) -> None:
    """Have the system send signal `number` when the parent is killed, so that a child that hangs does not stay."""
    if sys.platform != "linux":
        return
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, number)


def main(arguments: list[str]) -> int:
    """Run the task named in `arguments` with the payload on stdin; return the exit status."""
    _when_parent_dies(signal.SIGKILL)
    task, pipe, journal = arguments
    payload = json.loads(sys.stdin.buffer.read())
    sys.path.insert(0, os.getcwd())
    wire = Wire(int(pipe), Path(journal))
    module, _, function = task.partition(":")
    try:
        getattr(importlib.import_module(module), function)(payload, wire)
    except FirstbreakError as error:
        wire.tell("refused", error_kind=error.kind, message=error.message, hint=error.hint)
        return 1
    except BaseException as error:
        wire.tell("raised", message=f"{type(error).__name__}: {error}"[:2000], trace=traceback.format_exc()[-8000:])
        return 1
    wire.tell("finished")
    return 0


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # threads and exit handlers of the user's code must not keep us waiting
