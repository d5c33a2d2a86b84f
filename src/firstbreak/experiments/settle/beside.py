"""What experiments recorded beside a run did to its diagnosis, for the reports that do not settle themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...diagnosis import Confirmation, Diagnosis
from ..result import FOLDER, read_all
from .api import folder_of
from .settled import Settled
from .ties import TIES
from .weighing import settle


def with_experiments(diagnoses: Sequence[Diagnosis]) -> list[Diagnosis]:
    """Return the diagnoses as the experiments recorded beside their runs leave them; `tried` says what they did.

    Runs that lie in one folder keep their diagnosis: nothing says which of them an experiment was made for.
    """
    folders = Counter(folder_of(Path(d.log.path)) for d in diagnoses)
    return [_settled(d) if folders[folder_of(Path(d.log.path))] == 1 else _unsettled(d) for d in diagnoses]


def _settled(diagnosis: Diagnosis) -> Diagnosis:
    folder = folder_of(Path(diagnosis.log.path))
    if not (folder / FOLDER).is_dir():
        return diagnosis
    problems: list[str] = []
    settled = settle(diagnosis, read_all(folder, problems))
    tried = (*_done(settled), *(f"left out: {problem}" for problem in problems))
    return _without_made(replace(settled.diagnosis, tried=tried), settled.used)


def _without_made(diagnosis: Diagnosis, made: Sequence[str]) -> Diagnosis:
    """Return the diagnosis without the looks that have been made: they are not asked for again."""

    def left(looks: Sequence[Confirmation]) -> tuple[Confirmation, ...]:
        return tuple(k for k in looks if k.experiment not in TIES or TIES[k.experiment].label not in made)

    causes = tuple(replace(c, confirm_with=left(c.confirm_with)) for c in diagnosis.causes)
    return replace(diagnosis, causes=causes, confirm_with=left(diagnosis.confirm_with))


def _unsettled(diagnosis: Diagnosis) -> Diagnosis:
    if not (folder_of(Path(diagnosis.log.path)) / FOLDER).is_dir():
        return diagnosis
    return replace(diagnosis, tried=("experiments lie beside several runs in one folder: none is weighed here",))


def _done(settled: Settled) -> list[str]:
    """Return one line for each experiment: its verdict, and the causes that it moved."""
    by_experiment: dict[str, list[str]] = {}
    for move in settled.moves:
        how = f"rules out {move.cause}" if move.removed else f"{move.cause} {move.points:+g} points"
        by_experiment.setdefault(f"{move.experiment} {move.outcome.value}", []).append(how)
    lines = [f"{name}: {', '.join(moved)}" for name, moved in by_experiment.items()]
    return [*lines, *(f"{name}: {reason}" for name, reason in settled.left), *settled.notes]
