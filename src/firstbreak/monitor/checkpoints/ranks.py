"""Where all ranks of a run can go back to together."""

from __future__ import annotations

from pathlib import Path

from .store import Checkpoints


def shared_step(folder: str | Path) -> float | None:
    """Return the newest step of which every rank below `folder` has a healthy checkpoint, None if there is none.

    One rank asks and tells the others, and each calls `roll_back(step=...)`.
    """
    steps = [
        {one.step for one in Checkpoints(path.parent, rank=int(path.name.removeprefix("rank-"))).all if one.healthy}
        for path in sorted(Path(folder).glob("rank-[0-9]*"))
    ]
    shared = [step for step in steps[0] if all(step in other for other in steps)] if steps else []
    return max(shared, default=None)
