"""`settle_run`: a run's diagnosis, what recorded experiments made of it, and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...diagnosis import Diagnosis
from ...isolation import Limits
from ..api import run_experiment
from ..conduct import Progress
from ..plan import Plan, Protocol
from ..result import FOLDER, Result, read_all
from ..running.executor import Executor
from ..subject import Subject
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
    run = Path(diagnosis.log.path)
    problems: list[str] = []
    found = tuple(read_all(folder_of(run), problems) if results is None else results)
    settled = settle(diagnosis, found)
    steps = next_steps(settled, subject or Subject(), str(folder_of(run)))
    return Settling(settled, steps, by_hand(settled.diagnosis), found, tuple(problems))


def folder_of(run: Path) -> Path:
    """Return the folder beside which experiments are recorded: the run's own, or that of its log file."""
    return run if run.is_dir() else run.parent


def take_step(
    settling: Settling,
    subject: Subject,
    protocol: Protocol | None = None,
    *,
    executor: Executor | None = None,
    limits: Limits | None = None,
    seconds: float | None = None,
    planned: Callable[[Plan], None] | None = None,
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
        subject_for(step.proposal, subject),
        protocol,
        executor=executor,
        limits=limits,
        seconds=seconds,
        folder=folder_of(Path(diagnosis.log.path)) / FOLDER,
        planned=planned,
        tell=tell,
    )
    return settle_run(diagnosis, subject, (*settling.results, result))
