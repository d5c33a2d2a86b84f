"""The child's side: `python -m firstbreak.isolation.child TASK PIPE JOURNAL` runs one task, reporting over the pipe."""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from ..errors import FirstbreakError
from .journal import Journal


class Wire:
    """How a task talks to the parent: `tell` sends one message, `journal` says what is under way."""

    def __init__(self, pipe: int, journal: Path | None) -> None:
        self._pipe = pipe
        self.journal = Journal(journal)

    def tell(self, kind: str, **data: Any) -> None:
        """Send one message of `kind`; `data` must be plain (numbers, texts, lists, dictionaries)."""
        if self._pipe >= 0:
            text = json.dumps({"kind": kind, **data}, default=str) + "\n"
            view = memoryview(text.encode())
            while view:
                view = view[os.write(self._pipe, view) :]


def main(arguments: list[str]) -> int:
    """Run the task named in `arguments` with the payload on stdin; return the exit status."""
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
