"""Which checkpoint of a run is the best by evaluation, which the last, which shows how it failed; and their hashes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..checkpoints import BEST, LAST, checkpoints, named
from ..context.hashing import mark
from ..diagnosis import Verdict
from ..errors import FirstbreakError, UnreadableError
from ..monitor.checkpoints.manifest import Checkpoint, describe
from .evidence import Run, Stored
from .structure import structure_of

MOST_COPIED_BYTES = 1 << 30
"""A larger checkpoint stays where it is, and its hash stands for it. Engineering default."""


def stored_of(run: Run) -> list[Stored]:
    """Return the checkpoints of a run that have a role, with their hashes; nothing is opened but to hash it."""
    place = Path(run.path.partition("#")[0])
    folder = place if place.is_dir() else place.parent
    ours = _of_monitor(folder)
    listed = [(_on_clock(run, number, clock), path) for number, clock, path in checkpoints(folder)]
    placed = sorted((at, path) for at, path in listed if at is not None)
    found = [_best(run, folder, placed, ours), _last(run, folder, placed, ours), _failed(run, placed, ours)]
    return [_hashed(one) for one in found if one is not None]


def _of_monitor(folder: Path) -> list[Checkpoint]:
    """Return the checkpoints that firstbreak's monitor saved at most two levels down, oldest first."""
    manifests = [*folder.glob("*/manifest.json"), *folder.glob("*/*/manifest.json")]
    found: list[Checkpoint] = []
    for path in manifests:
        try:
            if path.parent.name.startswith(("save-", "failed-")):
                found.append(describe(path.parent))
        except (FirstbreakError, AttributeError):
            continue  # a damaged one has no role
    return sorted(found, key=lambda c: c.number)


def _on_clock(run: Run, number: int, clock: str) -> float | None:
    log = run.diagnosis.log
    if clock in ("", log.clock) or log.clock == "rows":
        return float(number)
    other = log.clocks.others.get(clock) if log.clocks is not None else None
    return None if log.clocks is None or other is None else float(np.interp(number, other, log.clocks.at))


def _best(run: Run, folder: Path, placed: list[tuple[float, Path]], ours: list[Checkpoint]) -> Stored | None:
    top = run.top
    score = None if top is None else run.best
    by_name = next(iter(named(folder, BEST)), None) or _gone(run, folder)
    if by_name is not None:
        at = None if top is None else float(run.step[top])
        how = "named best by the trainer" if by_name.exists() else "in the record of the run, and not there any more"
        return _stored(run, "best", by_name, at, score, how)
    scored = [c for c in ours if c.kind == "save" and c.score is not None]
    if scored:
        sign, word = (-1, "lowest") if run.lower else (1, "highest")
        best = max(scored, key=lambda c: (sign * (c.score or 0.0), c.number))
        return _stored(run, "best", best.path, best.at, best.score, f"{word} score in the monitor's store")
    if top is None or not placed:
        return None
    # The checkpoint nearest to the best evaluation, no further than half an evaluation away.
    at = float(run.step[top])
    near, path = min(placed, key=lambda entry: abs(entry[0] - at))
    gap = float(np.median(np.diff(run.step))) if run.step.size > 1 else 0.0
    if abs(near - at) > gap / 2:
        return None
    return _stored(
        run, "best", path, near, score, f"saved where the evaluation was {'lowest' if run.lower else 'highest'}"
    )


def _gone(run: Run, folder: Path) -> Path | None:
    """Return the checkpoint named best that the record of the run has and its folder lacks: no other stands for it."""
    recorded = () if run.context is None else run.context.checkpoints
    return next((folder / Path(one.path).name for one in recorded if Path(one.path).stem in BEST), None)


def _last(run: Run, folder: Path, placed: list[tuple[float, Path]], ours: list[Checkpoint]) -> Stored | None:
    saves = [c for c in ours if c.kind == "save"]
    end = float(run.score[-1]) if run.score.size else None
    by_name = next(iter(named(folder, LAST)), None)
    if by_name is not None:
        return _stored(run, "last", by_name, run.last_step, end, "named last by the trainer")
    if saves:
        return _stored(run, "last", saves[-1].path, saves[-1].at, saves[-1].score, "newest in the monitor's store")
    if not placed:
        return None
    at, path = placed[-1]
    return _stored(run, "last", path, at, end if at >= run.last_step else None, "highest step")


def failed(run: Run) -> bool:
    """Whether the run failed: it died, or firstbreak finds it broken."""
    return run.crashed or run.diagnosis.verdict is Verdict.BROKEN


def _failed(run: Run, placed: list[tuple[float, Path]], ours: list[Checkpoint]) -> Stored | None:
    states = [c for c in ours if c.kind == "failed"]
    if states:
        return _stored(run, "failed", states[-1].path, states[-1].at, None, "state saved at the failure")
    if not failed(run) or not placed:
        return None
    first = run.diagnosis.first_break
    broke = first.onset.lo if first is not None else run.last_step
    after = [(at, path) for at, path in placed if at >= broke]
    at, path = after[0] if after else placed[-1]
    return _stored(run, "failed", path, at, None, "first after the break" if after else "last before the end")


def _stored(run: Run, role: str, path: Path, step: float | None, score: float | None, how: str) -> Stored:
    return Stored(run.name, role, str(path), "", 0, step, score, how)


def _hashed(one: Stored) -> Stored:
    found = mark(one.path)
    structure = structure_of(Path(one.path)) if found.sha256 else None
    return replace(one, sha256=found.sha256, size_bytes=found.size_bytes, structure=structure)


def copied(one: Stored, folder: Path, tell: Callable[[str], Any] | None = None) -> Stored:
    """Copy a checkpoint into the release, if it is not too large; return it with its place there.

    Raises:
        UnreadableError: the disk is full, or the checkpoint vanished.
    """
    if not one.sha256 or one.size_bytes > MOST_COPIED_BYTES:
        return one
    source = Path(one.path)
    inside = Path("checkpoints") / one.run / one.role / source.name
    if tell is not None:
        tell(f"copying {one.role} checkpoint of {one.run}")
    try:
        (folder / inside).parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, folder / inside, ignore=_links)
        else:
            shutil.copyfile(source, folder / inside)
    except OSError as error:
        raise UnreadableError(
            f"{source}: cannot be copied: {error.strerror}.", "Make room, and release again."
        ) from error
    return replace(one, copied_to=inside.as_posix())


def _links(folder: str, names_in: list[str]) -> list[str]:
    """Leave links out, as the hash does: they may lead anywhere."""
    return [name for name in names_in if (Path(folder) / name).is_symlink()]
