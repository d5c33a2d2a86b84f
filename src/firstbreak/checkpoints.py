"""Finds checkpoints beside a log and says which is the last from before the break. Files are named, never opened."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from .runlog import RunLog

_NAMES = (
    (re.compile(r"^checkpoint-(\d+)$"), "updates"),
    (re.compile(r"^checkpoint_(\d+)(?:\.\w+)?$"), "updates"),
    (re.compile(r"^global_step[-_]?(\d+)$"), "updates"),
    (re.compile(r"^.+_(\d+)_steps\.zip$"), "env_steps"),
    (re.compile(r"^(?:model|step|iter|ckpt|agent)[-_](\d+)\.(?:pt|pth|zip|ckpt|safetensors)$"), ""),
)
"""Names that frameworks give and what their number counts: transformers, RLlib, verl, Stable-Baselines3; then names in
general use, whose number is taken to count what the log's own steps do."""
BEST = ("best_model", "best", "model_best", "best_checkpoint")
LAST = ("last_model", "final_model", "last", "final")
"""Stems that trainers give to the best and the last checkpoint."""
_ENDINGS = ("", ".zip", ".pt", ".pth", ".ckpt", ".safetensors", ".npz")
_KEEPS = re.compile(r"check|ckpt|model|weight|save|step|state|agent|polic", re.IGNORECASE)
"""In the name of a folder beside a log file: it may hold the run's checkpoints. Others may be other runs."""
_DEPTH = 3
_LIMIT = 20_000


def checkpoints(folder: Path) -> list[tuple[int, str, Path]]:
    """Return (number, what it counts or `""`, path) of every checkpoint below `folder`, at most three levels down."""
    found: list[tuple[int, str, Path]] = []
    for path in _walk(folder, _DEPTH):
        for pattern, clock in _NAMES:
            match = pattern.match(path.name)
            if match:
                found.append((int(match.group(1)), clock, path))
                break
    return sorted(found)


def named(folder: Path, stems: Sequence[str]) -> list[Path]:
    """Return what is called by one of `stems` in `folder` or in a folder there, the former first."""
    places = [place for place in (folder, *sorted(folder.glob("*/"))) if place.is_dir()]
    paths = (place / f"{stem}{ending}" for place in places for stem in stems for ending in _ENDINGS)
    return [path for path in paths if path.exists()]


def last_healthy(log: RunLog, broke_at: float | None) -> str | None:
    """Return the newest checkpoint from before `broke_at` on the run's clock (any, when it never broke).

    A checkpoint whose number counts something else than the run's clock counts only where the log ties the two. Beside
    a log that is a single file other runs may lie: only folders count there whose name says that they keep weights.
    """
    place = Path(log.path)
    folder = place if place.is_dir() else place.parent
    if not folder.is_dir():
        return None
    found = [row for row in checkpoints(folder) if place.is_dir() or _is_beside(row[2], folder)]
    placed = [(_position(log, number, clock), path) for number, clock, path in found]
    good = [(at, path) for at, path in placed if at is not None and (broke_at is None or at < broke_at)]
    return str(max(good)[1]) if good else None


def _position(log: RunLog, number: int, clock: str) -> float | None:
    """Return where a checkpoint lies on the run's clock, None where that is not known."""
    if clock in ("", log.clock) or log.clock == "rows":
        return float(number)
    other = log.clocks.others.get(clock) if log.clocks is not None else None
    return None if log.clocks is None or other is None else float(np.interp(number, other, log.clocks.at))


def _is_beside(path: Path, folder: Path) -> bool:
    """Whether `path` lies in `folder`, or in a folder there that is kept for checkpoints."""
    above = path.relative_to(folder).parts[:-1]
    return not above or _KEEPS.search(above[0]) is not None


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    try:
        children = sorted(folder.iterdir())
    except OSError:
        return
    for child in children[:_LIMIT]:
        yield child
        if depth > 1 and child.is_dir() and not child.is_symlink() and not child.name.startswith("."):
            yield from _walk(child, depth - 1)
