"""Finds checkpoints beside a log and says which is the last from before the break. Files are named, never opened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .runlog import RunLog

_NAMES = (
    re.compile(r"^checkpoint[-_](\d+)$"),
    re.compile(r"^checkpoint_(\d+)(?:\.\w+)?$"),
    re.compile(r"^global_step[-_]?(\d+)$"),
    re.compile(r"^(?:model|step|iter|ckpt|agent)[-_](\d+)(?:_steps)?\.(?:pt|pth|zip|ckpt|safetensors)$"),
    re.compile(r"^\w+_(\d+)_steps\.zip$"),
)
"""Names that frameworks give: transformers, RLlib, verl, rsl_rl and others, Stable-Baselines3."""
_DEPTH = 3
_LIMIT = 20_000


def checkpoints(folder: Path) -> list[tuple[int, Path]]:
    """Return (step, path) of every checkpoint below `folder`, by step; at most three levels down."""
    found: list[tuple[int, Path]] = []
    for path in _walk(folder, _DEPTH):
        for pattern in _NAMES:
            match = pattern.match(path.name)
            if match:
                found.append((int(match.group(1)), path))
                break
    return sorted(found)


def last_healthy(log: RunLog, broke_at: float | None) -> str | None:
    """Return the newest checkpoint whose step lies before `broke_at` on the run's clock (any, when it never broke)."""
    place = Path(log.path)
    folder = place if place.is_dir() else place.parent
    if not folder.is_dir():
        return None
    good = [path for step, path in checkpoints(folder) if broke_at is None or step < broke_at]
    return str(good[-1]) if good else None


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    try:
        children = sorted(folder.iterdir())
    except OSError:
        return
    for child in children[:_LIMIT]:
        yield child
        if depth > 1 and child.is_dir() and not child.is_symlink() and not child.name.startswith("."):
            yield from _walk(child, depth - 1)
