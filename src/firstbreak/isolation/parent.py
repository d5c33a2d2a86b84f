"""The parent's side: start the child, hear its messages, enforce the limits, say how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from ..errors import ConfigError, FirstbreakError, InputError, MissingExtraError, UnknownNameError
from .copies import Copies, read_copies
from .family import TOKEN, Family
from .journal import copies_beside, read_journal

POLL_S = 0.1
"""How often limits are looked at, in seconds: short against any limit, long against a wake-up."""
TAIL_BYTES = 4000
"""How much of the child's own output is kept."""

GIB = 1 << 30


class How(StrEnum):
    """How a child ended."""

    FINISHED = "finished"
    RAISED = "raised"
    HUNG = "hung"
    TOO_SLOW = "too_slow"
    OUT_OF_MEMORY = "out_of_memory"
    TOO_LOUD = "too_loud"
    DIED = "died"


@dataclass(frozen=True)
class Limits:
    """What a child may use: seconds in all, seconds without a sign of life, resident bytes with its children, bytes
    printed.
    """

    seconds: float = 600.0
    silence_s: float = 30.0
    memory_bytes: int = 8 * GIB
    printed_bytes: int = GIB


@dataclass(frozen=True)
class Ending:
    """How a child ended and what it was doing: the call under way, its episode's seed and actions so far."""

    how: How
    message: str = ""
    trace: str = ""
    call: str = ""
    seed: int | None = None
    actions: tuple[Any, ...] = ()
    printed: str = ""
    """The last bytes the user's code wrote to stdout and stderr, as text that has not been cleaned."""
    printed_bytes: int = 0
    leftovers: bool = False
    """True when processes of the child outlived it; they have been stopped."""
    copies: Copies = field(default_factory=Copies)
    """Forks of the child that returned to our code; they have been stopped there."""
    seconds: float = 0.0
    peak_bytes: int = 0
    own_bytes: int = 0
    """What the child itself used when last looked at, without its descendants."""
    most_processes: int = 0
    """The child and its descendants, at most, at a time."""


Hear = Callable[[dict[str, Any]], None]


def run(
    task: str,
    payload: Mapping[str, Any],
    *,
    limits: Limits | None = None,
    hear: Hear | None = None,
    between: Callable[[], None] | None = None,
) -> Ending:
    """Run `task` (`module:function`, called with the payload and a `Wire`) in a child process; return how it ended.

    `hear` is called with each message as it comes, `between` several times a second, also while the child is silent;
    what they raise stops the child and is passed on. The child has the working directory on its import path.

    Raises:
        FirstbreakError: the task refused its input (the child raised such an error).
        KeyboardInterrupt: passed on after the child has been stopped.
    """
    with tempfile.TemporaryDirectory(prefix="firstbreak-") as folder:
        return _Run(task, payload, limits or Limits(), hear or _ignore, Path(folder)).go(between)


def _ignore(message: dict[str, Any]) -> None:
    del message


class _Run:
    """One child from start to end."""

    def __init__(self, task: str, payload: Mapping[str, Any], limits: Limits, hear: Hear, folder: Path) -> None:
        self.limits, self.hear, self.journal = limits, hear, folder / "journal"
        self.printed = folder / "printed"
        read, write = os.pipe()
        mark = folder.name
        environ = {**os.environ, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"), TOKEN: mark}
        with self.printed.open("wb") as printed:
            self.child = subprocess.Popen(  # noqa: S603 (our own interpreter and module)
                [sys.executable, "-m", "firstbreak.isolation.child", task, str(write), str(self.journal)],
                stdin=subprocess.PIPE,
                stdout=printed,
                stderr=subprocess.STDOUT,
                pass_fds=(write,),
                start_new_session=True,
                env=environ,
            )
        os.close(write)
        self.family = Family(self.child.pid, mark)
        self.pipe = read
        self.rest = b""
        self.start = self.life = time.monotonic()
        self.last: dict[str, Any] = {}
        self.peak = 0
        self.said = (0, 0.0)
        self.payload = json.dumps(dict(payload), default=str).encode()

    def go(self, between: Callable[[], None] | None = None) -> Ending:
        """Feed the child, watch it, and sum up; whatever happens here, the child and its children are stopped."""
        try:
            with contextlib.suppress(BrokenPipeError):
                assert self.child.stdin is not None
                self.child.stdin.write(self.payload)
                self.child.stdin.close()
            cut = self._watch(between)
        finally:
            leftovers = self._stop()
        return self._ending(cut, leftovers)

    def _watch(self, between: Callable[[], None] | None) -> How | None:
        """Hear the child until it ends or breaks a limit; return the limit broken."""
        open_pipe = True
        while True:
            if between is not None:
                between()
            over = self.child.poll() is not None  # asked first: what it said before it ended is in the pipe then
            ready = open_pipe and bool(select.select([self.pipe], [], [], 0 if over else POLL_S)[0])
            if ready:
                open_pipe = self._hear()
            elif over:
                return None
            elif not open_pipe:
                time.sleep(POLL_S)
            broken = self._broken()
            if broken is not None:
                return broken

    def _hear(self) -> bool:
        """Read what is there; return False when the child closed the pipe."""
        data = os.read(self.pipe, 1 << 16)
        self.life = time.monotonic()
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self.last = json.loads(line)
            self.hear(self.last)
        return bool(data)

    def _broken(self) -> How | None:
        now = time.monotonic()
        with contextlib.suppress(OSError):
            stat = self.journal.stat()
            if (stat.st_size, stat.st_mtime) != self.said:
                self.said, self.life = (stat.st_size, stat.st_mtime), now
        used = self.family.resident_bytes()
        self.peak = max(self.peak, used)
        if used > self.limits.memory_bytes:
            return How.OUT_OF_MEMORY
        if now - self.start > self.limits.seconds:
            return How.TOO_SLOW
        if self.printed.stat().st_size > self.limits.printed_bytes:
            return How.TOO_LOUD
        return How.HUNG if now - self.life > self.limits.silence_s else None

    def _stop(self) -> bool:
        """Stop the child and all its children; return whether any child outlived it."""
        ended = self.child.poll() is not None
        leftovers = ended and self.family.alive()
        self.family.stop()
        self.child.wait()
        os.close(self.pipe)
        return leftovers

    def _ending(self, cut: How | None, leftovers: bool) -> Ending:
        kind = self.last.get("kind", "")
        if kind == "refused" and cut is None:
            raise _error(self.last)
        how = cut or {"finished": How.FINISHED, "raised": How.RAISED}.get(kind, How.DIED)
        account = read_journal(self.journal)
        size = self.printed.stat().st_size
        with self.printed.open("rb") as file:
            file.seek(max(0, size - TAIL_BYTES))
            printed = file.read().decode("utf-8", "replace")
        return Ending(
            how,
            message=str(self.last.get("message", "")) if how is How.RAISED else self._words(how),
            trace=str(self.last.get("trace", "")) if how is How.RAISED else "",
            call=account.call,
            seed=account.seed,
            actions=account.actions,
            printed=printed,
            printed_bytes=size,
            leftovers=leftovers,
            copies=read_copies(copies_beside(self.journal)),
            seconds=time.monotonic() - self.start,
            peak_bytes=self.peak,
            own_bytes=self.family.own_bytes,
            most_processes=self.family.most,
        )

    def _words(self, how: How) -> str:
        if how is How.DIED:
            code = self.child.returncode
            return f"killed by signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        if how is How.HUNG:
            return f"no sign of life for {self.limits.silence_s:g} s"
        if how is How.TOO_SLOW:
            return f"not done after {self.limits.seconds:g} s"
        if how is How.TOO_LOUD:
            return f"more than {self.limits.printed_bytes / GIB:.1f} GiB printed"
        if how is not How.OUT_OF_MEMORY:
            return ""
        by = f" by {self.family.most} processes" if self.family.most > 1 else ""
        return f"more than {self.limits.memory_bytes / GIB:.1f} GiB in use{by}"


def _error(message: dict[str, Any]) -> FirstbreakError:
    kinds = (InputError, ConfigError, UnknownNameError, MissingExtraError)
    kind = next((k for k in kinds if k.kind == message.get("error_kind")), InputError)
    return kind(str(message.get("message", "")), str(message.get("hint", "")))
