"""What experiments recorded beside a run did to its diagnosis, for the reports that do not settle themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...diagnosis import Confirmation, Diagnosis
from ..result import FOLDER, Result, read_all
from .places import folder_of, place_of
from .settled import Settled
from .ties import TIES
from .weighing import settle

SHARED = "experiments lie beside several runs in one folder: none is weighed here"


def with_experiments(diagnoses: Sequence[Diagnosis]) -> list[Diagnosis]:
    """Return the diagnoses as the experiments recorded beside their runs leave them; `tried` says what they did.

    Runs that lie in one folder keep their diagnosis: nothing says which of them an experiment was made for. So do
    numbers that were never read from disk: nothing lies beside them.
    """
    return [_settled(d, found) if found else d for d, found in zip(diagnoses, recorded(diagnoses), strict=True)]


@dataclass(frozen=True)
class Recorded:
    """The experiments recorded beside one run."""

    results: tuple[Result, ...] = ()
    problems: tuple[str, ...] = ()
    """Why some of them count for nothing: one line each."""

    def __bool__(self) -> bool:
        return bool(self.results or self.problems)


def recorded(diagnoses: Sequence[Diagnosis]) -> list[Recorded]:
    """Return what is recorded beside each run; of runs that share a folder only that it cannot be told whose it is."""
    folders = [_beside(Path(d.log.path)) for d in diagnoses]
    shared = Counter(folders)
    return [_read(folder, shared[folder]) if folder is not None else Recorded() for folder in folders]


def _beside(path: Path) -> Path | None:
    folder = folder_of(path)
    return folder if place_of(path).exists() and (folder / FOLDER).is_dir() else None


def _read(folder: Path, runs: int) -> Recorded:
    if runs > 1:
        return Recorded(problems=(SHARED,))
    problems: list[str] = []
    return Recorded(tuple(read_all(folder, problems)), tuple(problems))


def _settled(diagnosis: Diagnosis, found: Recorded) -> Diagnosis:
    settled = settle(diagnosis, found.results)
    problems = (p if p == SHARED else f"left out: {p}" for p in found.problems)
    return _without_made(replace(settled.diagnosis, tried=(*_done(settled), *problems)), settled.used)


def _without_made(diagnosis: Diagnosis, made: Sequence[str]) -> Diagnosis:
    """Return the diagnosis without the looks that have been made: they are not asked for again."""

    def left(looks: Sequence[Confirmation]) -> tuple[Confirmation, ...]:
        return tuple(k for k in looks if k.experiment not in TIES or TIES[k.experiment].label not in made)

    causes = tuple(replace(c, confirm_with=left(c.confirm_with)) for c in diagnosis.causes)
    return replace(diagnosis, causes=causes, confirm_with=left(diagnosis.confirm_with))


def _done(settled: Settled) -> list[str]:
    """Return one line for each experiment: its verdict, and the causes that it moved."""
    by_experiment: dict[str, list[str]] = {}
    for move in settled.moves:
        how = f"rules out {move.cause}" if move.removed else f"{move.cause} {move.points:+g} points"
        by_experiment.setdefault(f"{move.experiment} {move.outcome.value}", []).append(how)
    lines = [f"{name}: {', '.join(moved)}" for name, moved in by_experiment.items()]
    return [*lines, *(f"{name}: {reason}" for name, reason in settled.left), *settled.notes]
