"""What a checkpoint says of itself, and whether its files are still what was written."""

from __future__ import annotations

import hashlib
import json
import math
import platform
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from ... import __version__
from .disk import marks
from .errors import CheckpointError

MANIFEST = "manifest.json"
NAME = re.compile(r"^(save|failed)-(\d{6,})$")
FORMAT = 1


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint on disk, as its manifest describes it."""

    path: Path
    kind: str
    """`save` or `failed`."""
    number: int
    """Counts the saves of a store; the newest has the largest, also after a roll-back."""
    step: float
    at: float
    """The position on the run's clock."""
    clock: str
    wall: float
    """Seconds since the epoch."""
    score: float | None
    """Of the evaluation, if there was one."""
    healthy: bool
    """What is known now: false once the run is known to have broken at or before `at`."""
    holds: tuple[str, ...] = ()
    """The names in the state."""
    reason: str = ""
    notice: Mapping[str, Any] = field(default_factory=dict[str, Any])
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.path.name

    @property
    def size_bytes(self) -> int:
        """What its files take, the manifest apart."""
        return sum(int(entry["bytes"]) for entry in self.files.values())


def compose(fields: Mapping[str, Any], folder: Path) -> str:
    """Return the manifest of the files in `folder`, with a hash of itself."""
    body = {"format": FORMAT, **fields, "versions": _versions(), "files": marks(folder)}
    return json.dumps({**body, "sha256": _seal(body)}, indent=1)


def describe(path: Path) -> Checkpoint:
    """Read the manifest in `path`.

    Raises:
        CheckpointError: It is not there, cut short, changed, or of a newer format.
    """
    try:
        body = json.loads((path / MANIFEST).read_text("utf-8"))
        seal = body.pop("sha256")
        if _seal(body) != seal:
            raise CheckpointError(f"The manifest of {path} was changed.", "Use an older checkpoint.")
        if body["format"] > FORMAT:
            raise CheckpointError(f"{path} was written by a newer firstbreak.", "Update firstbreak.")
        return _checkpoint(path, body)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CheckpointError(f"The manifest of {path} cannot be read: {error}", "Use an older checkpoint.") from error


def verify(found: Checkpoint) -> None:
    """Compare every file with the manifest.

    Raises:
        CheckpointError: A file is missing, changed, or one too many; the message names it.
    """
    try:
        here = marks(found.path)
    except OSError as error:
        raise CheckpointError(f"{found.path} cannot be read: {error}", "Use an older checkpoint.") from error
    here.pop(MANIFEST, None)
    for name in sorted({*here, *found.files}):
        if here.get(name) != found.files.get(name):
            what = "is missing" if name not in here else "was changed" if name in found.files else "does not belong"
            raise CheckpointError(f"{found.path} is damaged: {name} {what}.", "Use an older checkpoint.")


def _checkpoint(path: Path, body: Mapping[str, Any]) -> Checkpoint:
    kind, number = cast("re.Match[str]", NAME.match(path.name)).groups()
    return Checkpoint(
        path=path,
        kind=kind,
        number=int(number),
        step=body["step"],
        at=body["at"],
        clock=body["clock"],
        wall=body["wall"],
        score=body["score"],
        healthy=body["healthy"],
        holds=tuple(body["holds"]),
        reason=body["reason"],
        notice=body["notice"],
        versions=body["versions"],
        files=body["files"],
    )


def plain_number(value: Any, what: str) -> float:
    """Return a finite Python number; whole ones as int."""
    number = float(value)
    if not math.isfinite(number):
        raise CheckpointError(f"The {what} is {number}.", "It must be finite.")
    return int(number) if number.is_integer() else number


def _versions() -> dict[str, str]:
    torch = sys.modules.get("torch")
    found = {"firstbreak": __version__, "python": platform.python_version(), "numpy": np.__version__}
    return found if torch is None else {**found, "torch": str(torch.__version__)}


def _seal(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
