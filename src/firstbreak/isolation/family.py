"""All processes that descend from a child, also those that left its group: how many, how large, and their end.

Read from /proc. Where there is none, the process group is all that is seen (`memory`).
"""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from .memory import PAGE, PROC, group_alive, resident_bytes

TOKEN = "FIRSTBREAK_CHILD"  # noqa: S105 (a name, not a secret)
"""The environment variable that marks a child; what it starts inherits the mark, whoever its parent is later."""
GONE = frozenset({"Z", "X"})


@dataclass(frozen=True)
class Member:
    """One line of /proc; `born` tells it from a later process with the same number."""

    pid: int
    state: str
    parent: int
    group: int
    born: int


class Family:
    """The processes that descend from `root`, which leads a group of its own."""

    def __init__(self, root: int, mark: str) -> None:
        self.root, self._mark = root, f"{TOKEN}={mark}".encode()
        self._known: dict[int, int] = {}
        self._strangers: set[tuple[int, int]] = set()
        self.most = 0
        """The largest number of processes seen at a time."""
        self.own_bytes = 0
        """Resident bytes of the root alone when last looked at."""

    def resident_bytes(self) -> int:
        """Return the resident bytes of all members together."""
        if not _readable():
            return resident_bytes(self.root)
        members = self._look()
        self.most = max(self.most, len(members))
        sizes = {member.pid: _resident(member.pid) for member in members}
        self.own_bytes = sizes.get(self.root, 0)
        return sum(sizes.values())

    def alive(self) -> bool:
        """Whether a member is running."""
        return bool(self._living()) if _readable() else group_alive(self.root)

    def stop(self) -> None:
        """End all members; repeated, since one may start another meanwhile."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.root, signal.SIGKILL)
        for _ in range(10):
            living = self._living() if _readable() else []
            if not living:
                return
            for member in living:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(member.pid, signal.SIGKILL)

    def _living(self) -> list[Member]:
        return [member for member in self._look() if member.state not in GONE]

    def _look(self) -> list[Member]:
        """Return the members there are now; whoever was one once stays one."""
        table = {member.pid: member for member in map(_read, _numbers()) if member is not None}
        found = {p: m for p, m in table.items() if self._belongs(m)}
        born = table[self.root].born if self.root in table else 0
        found.update({p: m for p, m in table.items() if p not in found and m.born >= born and self._marked(m)})
        grown = True
        while grown:
            fresh = {p: m for p, m in table.items() if p not in found and m.parent in found}
            found.update(fresh)
            grown = bool(fresh)
        self._known = {p: m.born for p, m in found.items()}
        return list(found.values())

    def _belongs(self, member: Member) -> bool:
        return member.group == self.root or self._known.get(member.pid) == member.born

    def _marked(self, member: Member) -> bool:
        """Whether a process that left group and parent carries our mark; every stranger is asked once."""
        if (member.pid, member.born) in self._strangers:
            return False
        try:
            environ = (PROC / str(member.pid) / "environ").read_bytes()
        except OSError:
            environ = b""
        ours = self._mark in environ.split(b"\0")
        if not ours:
            self._strangers.add((member.pid, member.born))
        return ours


def _readable() -> bool:
    return (PROC / "self" / "stat").exists()


def _numbers() -> list[int]:
    return [int(path.name) for path in PROC.iterdir() if path.name.isdigit()]


def _read(pid: int) -> Member | None:
    """Read one process; the name in brackets may hold anything."""
    try:
        fields = (Path(PROC) / str(pid) / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        return Member(pid, fields[0], int(fields[1]), int(fields[2]), int(fields[19]))
    except (OSError, IndexError, ValueError):
        return None


def _resident(pid: int) -> int:
    try:
        return int((PROC / str(pid) / "statm").read_text("ascii").split()[1]) * PAGE
    except (OSError, IndexError, ValueError):
        return 0
