"""What the terminal can show, and writing to it or to a file."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UnreadableError

if TYPE_CHECKING:
    from ..report.page import Face


def colour() -> bool:
    """Whether to colour the output: on a terminal, unless NO_COLOR is set or the terminal is dumb."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width() -> int:
    """Columns to fill: those of the terminal, at most 100; 80 when piped."""
    return min(shutil.get_terminal_size((80, 24)).columns, 100) if sys.stdout.isatty() else 80


def ascii_only() -> bool:
    """Whether the output can hold ASCII only."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "").replace("_", "")
    return not encoding.startswith("utf")


def face() -> Face:
    """Return what this terminal can show."""
    from ..report.page import Face

    return Face(width(), colour(), ascii_only())


def say(text: str) -> None:
    """Write `text` to the standard output, ending in one newline."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def note(text: str) -> None:
    """Write one line beside the output, to the standard error."""
    print(text, file=sys.stderr)


def save(text: str, path: Path) -> str:
    """Write `text` to `path` whole or not at all; return the sentence that says so.

    Raises:
        UnreadableError: the place cannot be written.
    """
    there = path.exists()
    name = ""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=".firstbreak", delete=False
        ) as file:
            name = file.name
            file.write(text)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except OSError as error:
        if name and os.path.exists(name):
            os.unlink(name)
        raise cannot_write(path, error) from error
    return f"{'Replaced' if there else 'Wrote'} {path}"


def cannot_write(path: Path, error: OSError) -> UnreadableError:
    """Return the error for a place that cannot be written."""
    if path.is_dir():
        return UnreadableError(f"{path} is a folder.", "Give the name of a file, which may be in it.")
    return UnreadableError(f"{path}: cannot be written: {error.strerror}.", "Choose a folder that exists and is yours.")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
