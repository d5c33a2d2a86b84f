"""One checkpoint on disk: writing it, finding it, reading it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from . import content, disk
from .errors import CheckpointError
from .manifest import MANIFEST, NAME, Checkpoint, compose, describe, verify
from .parts import states
from .rng import rng_state

Save = Callable[[Path, Any], None]
Load = Callable[[Path], Any]
_OWN = "state"
"""Folder within a checkpoint for what a `save` function of the user writes."""


@dataclass(frozen=True)
class Opened:
    """The verified content of one checkpoint."""

    checkpoint: Checkpoint
    state: Any
    rng: Mapping[str, Any]
    """What `set_rng_state` takes."""
    batch: Any = None
    """What a failed update was made from."""


def write(folder: Path, name: str, state: Any, fields: Mapping[str, Any], *, batch: Any, save: Save | None) -> Path:
    """Write a checkpoint into `folder`; `fields` go into its manifest."""
    tree: dict[str, Any] = {"rng": rng_state()}
    if save is None:
        tree["state"] = states(state)
    if batch is not None:
        tree["batch"] = states(batch)

    def fill(hidden: Path) -> None:
        content.write(hidden, tree)
        if save is not None:
            (hidden / _OWN).mkdir()
            save(hidden / _OWN, state)
        holds = [str(name) for name in cast("Mapping[Any, Any]", state)] if isinstance(state, Mapping) else []
        text = compose({**fields, "holds": holds}, hidden)
        with disk.sink(hidden / MANIFEST) as out:
            out.write(text.encode())

    folder.mkdir(parents=True, exist_ok=True)
    return disk.make(folder, name, fill)


def find(folder: Path, kind: str) -> tuple[list[Checkpoint], list[str]]:
    """Return the checkpoints of a kind whose manifest can be read, and what is wrong with the others."""
    found: list[Checkpoint] = []
    wrong: list[str] = []
    try:
        paths = sorted(folder.iterdir())
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [f"{folder} cannot be read: {error}"]
    for path in paths:
        named = NAME.match(path.name)
        if named and named.group(1) == kind:
            try:
                found.append(describe(path))
            except CheckpointError as error:
                wrong.append(error.message)
    return found, wrong


def read(one: Checkpoint, load: Load | None = None) -> Opened:
    """Verify a checkpoint and return what it holds.

    Raises:
        CheckpointError: It is damaged, or needs what is not here.
    """
    verify(one)
    own = one.path / _OWN
    if own.is_dir() and load is None:
        raise CheckpointError(
            f"The state in {one.path} was written by a function of yours.", "Give Checkpoints the same save and load."
        )
    try:
        tree = content.read(one.path)
        state = load(own) if load is not None and own.is_dir() else tree["state"]
    except CheckpointError:
        raise
    except Exception as error:
        raise CheckpointError(f"{one.path} cannot be loaded: {error}", "Use an older checkpoint.") from error
    return Opened(one, state, tree["rng"], tree.get("batch"))


def last_number(folder: Path) -> int:
    """Return the largest number in use, of any kind, readable or not; 0 for none."""
    try:
        named = [NAME.match(path.name) for path in folder.iterdir()]
    except OSError:
        return 0
    return max((int(match.group(2)) for match in named if match), default=0)
