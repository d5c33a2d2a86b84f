"""The child's side of a black-box script: start the command in a folder of its own, and hear that it lives.

Whatever it writes by a relative path (TensorBoard runs, tables, what it prints) lies in that folder afterwards and
nowhere else; the user's own folder stays as it was.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...isolation.child import Wire
from ..environments.record import FOLDER

OUTPUT = "output.log"
"""What the script prints, in its folder: a reader of `diagnose` may know the lines."""
TAIL_BYTES = 4000
POLL_S = 0.5


def run_script(payload: dict[str, Any], wire: Wire) -> None:
    """Start the command, give signs of life while its environments step or its log grows, raise when it fails."""
    record, own, here = Path(payload["record"]), Path(payload["own"]), os.getcwd()
    with (own / OUTPUT).open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 (the user's own command)
            payload["words"],
            env=_environ(record, here),
            cwd=own,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    seen = -1
    while process.poll() is None:
        time.sleep(POLL_S)
        if (own / OUTPUT).stat().st_size > payload["printed_bytes"]:
            process.kill()
            raise RuntimeError(f"the script printed more than {payload['printed_bytes'] / 1e9:.1f} GB")
        now = _written(record) + _written(own)
        if now != seen:
            seen = now
            wire.tell("beat", bytes=now)
    if process.returncode:
        raise RuntimeError(f"the script ended with status {process.returncode}")


def from_here(words: Sequence[str]) -> list[str]:
    """Return the words of the command with those that name something in this folder made absolute."""
    return [os.path.abspath(word) if _is_here(word) else word for word in words]  # links stay: a venv's python is one


def _is_here(word: str) -> bool:
    """Whether `word` is the path of something: not the program itself, which is looked up, nor an option."""
    return ("/" in word or "." in word) and not word.startswith("-") and Path(word).exists()


def last_words(path: Path) -> str:
    """Return the end of what the script printed, as text that has not been cleaned; empty where it printed nothing."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _environ(record: Path, here: str) -> dict[str, str]:
    """The script's environment: modules of the user's folder are found, and nothing is sent to a server of runs."""
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH", "")]))
    return {"WANDB_MODE": "offline", **os.environ, FOLDER: str(record), "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}


def _written(folder: Path) -> int:
    """Bytes that lie in `folder` now; what is being moved or deleted meanwhile is left out."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue
    return total
