"""`settle_run`: a run's diagnosis, what recorded experiments made of it, and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...diagnosis import Diagnosis
from ...isolation import Limits
from ..api import run_experiment
from ..conduct import Progress
from ..result import FOLDER, Result
from ..running.executor import Executor
from ..subject import Subject
from .beside import Recorded, recorded
from .places import folder_of
from .settled import Settled
from .steps import ByHand, Step, by_hand, next_steps, subject_for
from .weighing import settle


@dataclass(frozen=True)
class Settling:
    """Where a run stands: settled as far as experiments went, and what is left to do."""

    settled: Settled
    steps: tuple[Step, ...]
    hand: tuple[ByHand, ...]
    results: tuple[Result, ...]
    problems: tuple[str, ...] = ()
    """Recorded experiments that could not be read, or were changed by hand: they count for nothing."""

    @property
    def open(self) -> bool:
        """Whether it is still open which cause it is: none convicted, or a rival beside it."""
        causes = self.settled.diagnosis.causes
        if not causes:
            return bool(self.settled.before.causes)
        return causes[0].name not in self.settled.convicted or bool(causes[0].rivals)


def settle_run(
    diagnosis: Diagnosis, subject: Subject | None = None, results: Sequence[Result] | None = None
) -> Settling:
    """Settle a diagnosis by the experiments recorded beside its run (or by `results`), and say what to do next."""
    found = recorded([diagnosis])[0] if results is None else Recorded(tuple(results))
    return _settling(diagnosis, subject or Subject(), found)


def settle_runs(diagnoses: Sequence[Diagnosis], subject: Subject | None = None) -> list[Settling]:
    """Settle several; runs that share a folder keep their diagnosis: nothing says whose its experiments are."""
    pairs = zip(diagnoses, recorded(diagnoses), strict=True)
    return [_settling(diagnosis, subject or Subject(), found) for diagnosis, found in pairs]


def _settling(diagnosis: Diagnosis, subject: Subject, found: Recorded) -> Settling:
    settled = settle(diagnosis, found.results)
    steps = next_steps(settled, subject, str(folder_of(Path(diagnosis.log.path))))
    return Settling(settled, steps, by_hand(settled.diagnosis), found.results, found.problems)


def take_step(
    settling: Settling,
    subject: Subject,
    *,
    executor: Executor | None = None,
    limits: Limits | None = None,
    seconds: float | None = None,
    tell: Callable[[Progress], None] | None = None,
) -> Settling | None:
    """Make the most telling experiment that can be made as it stands, record it, and settle anew.

    Returns:
        Where the run stands then; None when no experiment is ready: something has to be given first.
    """
    step = next((s for s in settling.steps if s.ready), None)
    if step is None:
        return None
    diagnosis = settling.settled.before
    result = run_experiment(
        step.proposal.experiment,
        subject_for(step.proposal, subject, diagnosis.log),
        executor=executor,
        limits=limits,
        seconds=seconds,
        folder=folder_of(Path(diagnosis.log.path)) / FOLDER,
        tell=tell,
    )
    return settle_run(diagnosis, subject, (*settling.results, result))
