"""Copies of the child that run on: user code that forks and lets both sides return to its caller.

Such a copy would play on beside the child, speak over its pipe, write over its journal, and fork again at the next
call; what is seen in the end is a machine full of processes, and memory gets the blame. So a copy is stopped as soon
as it comes back to our code, and is told for what it is. Workers of `multiprocessing` are no such copies: they do not
return.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Copies:
    """How many copies came back, and the call that the first of them was made in."""

    count: int = 0
    call: str = ""

    @property
    def words(self) -> str:
        """What a report says of them, empty when there were none."""
        if not self.count:
            return ""
        return f"{self.call or 'a call'} forked and returned twice; {self.count} copies of the process were stopped"


class Original:
    """Remembers which process is the child itself."""

    def __init__(self, path: Path | None) -> None:
        self._path, self._pid = path, os.getpid()

    def adopt(self) -> None:
        """Take this process, a fork made on purpose, for the child from here on."""
        self._pid = os.getpid()

    @property
    def here(self) -> bool:
        """Whether this is the child itself, no worker and no copy."""
        return os.getpid() == self._pid

    def leave_if_copy(self, call: str) -> None:
        """End this process if it is a copy that came back from `call`; nothing of the user's runs on the way out."""
        if self.here or multiprocessing.parent_process() is not None:
            return
        if self._path is not None:
            with contextlib.suppress(OSError), self._path.open("a") as file:
                file.write(json.dumps({"call": call}) + "\n")
        os._exit(0)


def read_copies(path: Path) -> Copies:
    """Return what the copies wrote down before they were stopped; a torn line counts as a copy."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return Copies()
    call = ""
    for line in lines:
        with contextlib.suppress(ValueError):
            call = str(json.loads(line)["call"])
            break
    return Copies(len(lines), call)
