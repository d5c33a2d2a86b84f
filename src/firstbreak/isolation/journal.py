"""The journal: what the child is doing right now, on disk before it does it, so that it outlives the child."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .copies import Original

MOST_ACTIONS = 200_000
"""Actions of one episode that are kept; later ones are counted only in the sense that the file stops growing."""


class Journal:
    """Written by the child: one line when an episode begins, one before every call."""

    def __init__(self, path: Path | None) -> None:
        self._fd = -1 if path is None else os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        self.original = Original(None if path is None else copies_beside(path))
        self.call = ""
        """The call noted last."""
        self._written = 0

    def begin(self, call: str, seed: int | None = None) -> None:
        """Note that `call` (say `reset`) is about to begin an episode with `seed`; earlier actions are forgotten."""
        if self._fd < 0 or not self._ours(call):
            return
        os.ftruncate(self._fd, 0)
        os.lseek(self._fd, 0, os.SEEK_SET)
        self._written = 0
        self._line({"call": call, "seed": seed})

    def act(self, action: Any, call: str = "step") -> None:
        """Note that `call` is about to be made with `action` (plain data or a numpy value)."""
        if self._fd < 0 or not self._ours(call) or self._written > MOST_ACTIONS:
            return
        self._written += 1
        self._line({"call": call, "action": _plain(action)})

    def during(self, call: str) -> None:
        """Note that `call` (say `policy`) is about to be made within the episode; its actions so far are kept."""
        if self._fd >= 0 and self._ours(call) and self._written <= MOST_ACTIONS:
            self._written += 1
            self._line({"call": call, "during": True})

    def close(self) -> None:
        """Give the file back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _ours(self, call: str) -> bool:
        """Whether the child itself is at work; a worker of it writes nothing, a copy that came back is ended."""
        self.original.leave_if_copy(self.call)
        self.call = call
        return self.original.here

    def _line(self, entry: dict[str, Any]) -> None:
        os.write(self._fd, (json.dumps(entry, default=str) + "\n").encode())


def copies_beside(journal: Path) -> Path:
    """Return the file in which copies of the child are counted."""
    return journal.with_name("copies")


@dataclass(frozen=True)
class Account:
    """What a journal says: the last call, the seed of its episode, and the actions of that episode in order."""

    call: str = ""
    seed: int | None = None
    actions: tuple[Any, ...] = ()


def read_journal(path: Path) -> Account:
    """Return the account of the episode under way; a torn last line is left out."""
    call, seed, actions = "", None, list[Any]()
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return Account()
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        call = str(entry.get("call", ""))
        if "action" in entry:
            actions.append(entry["action"])
        elif "during" not in entry:
            seed, actions = entry.get("seed"), []
    return Account(call, seed, tuple(actions))


def _plain(action: Any) -> Any:
    """Return `action` as JSON can hold it; numpy arrays become nested lists."""
    listed = getattr(action, "tolist", None)
    if callable(listed):
        return listed()
    if isinstance(action, dict):
        return {str(k): _plain(v) for k, v in action.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(action, (list, tuple)):
        return [_plain(v) for v in action]  # pyright: ignore[reportUnknownVariableType]
    return action
