"""How much memory a process group uses, and whether any of it is left; read from /proc, or from `ps` elsewhere."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

PROC = Path("/proc")
"""Where Linux tells of its processes."""
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
"""Bytes of a page of memory."""


def resident_bytes(group: int) -> int:
    """Return the resident bytes of all processes of `group`; 0 when it is gone or cannot be read."""
    if not (PROC / "self" / "statm").exists():
        return _by_ps(group)
    return sum(_resident(pid) for pid in _members(group))


def group_alive(group: int) -> bool:
    """Whether a process of `group` other than zombies is running."""
    if not (PROC / "self" / "stat").exists():
        return _by_ps(group) > 0
    return any(_state(pid) not in {"Z", "X", ""} for pid in _members(group))


def _members(group: int) -> list[int]:
    return [int(p.name) for p in PROC.iterdir() if p.name.isdigit() and _fields(int(p.name))[2:3] == [str(group)]]


def _fields(pid: int) -> list[str]:
    """State, parent and group of a process; the name in brackets before them may hold anything."""
    try:
        return (PROC / str(pid) / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[:3]
    except OSError:
        return []


def _state(pid: int) -> str:
    return next(iter(_fields(pid)), "")


def _resident(pid: int) -> int:
    try:
        return int((PROC / str(pid) / "statm").read_text("ascii").split()[1]) * PAGE
    except (OSError, IndexError, ValueError):
        return 0


def _by_ps(group: int) -> int:
    found = subprocess.run(["ps", "-A", "-o", "pgid=,rss="], capture_output=True, text=True, check=False)  # noqa: S607
    pairs = [line.split() for line in found.stdout.splitlines()]
    return sum(int(p[1]) * 1024 for p in pairs if len(p) == 2 and p[0] == str(group))
