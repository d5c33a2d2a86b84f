"""A store with a clock that stands still, and saves that must succeed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from firstbreak.monitor.checkpoints import Checkpoints
from firstbreak.monitor.checkpoints.disk import marks
from firstbreak.monitor.checkpoints.manifest import MANIFEST, _seal

WALL = 1e9
"""What the store's clock says, in seconds."""


def store_in(folder: Path, **settings: Any) -> Checkpoints:
    return Checkpoints(folder, now=lambda: WALL, **settings)


def steps(store: Checkpoints) -> list[float]:
    return [one.step for one in store.all]


def saved(store: Checkpoints, step: float, **more: Any) -> Path:
    path = store.save({"w": np.full(3, step)}, step=step, **more)
    assert path is not None, list(store.faults)
    return path


def reseal(path: Path) -> None:
    """Make the manifest agree with the files."""
    body = json.loads((path / MANIFEST).read_text())
    body.pop("sha256")
    body["files"] = {name: mark for name, mark in marks(path).items() if name != MANIFEST}
    (path / MANIFEST).write_text(json.dumps({**body, "sha256": _seal(body)}))
