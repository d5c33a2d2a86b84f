"""Runs an experiment within this process: the same trials and verdicts, without a new interpreter for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from firstbreak.experiments import Subject, Trial
from firstbreak.experiments.api import run_experiment
from firstbreak.experiments.experiment import find_experiment
from firstbreak.experiments.plan import Protocol
from firstbreak.experiments.result import Result
from firstbreak.experiments.running.executor import Job, Order
from firstbreak.experiments.trial import BOTH, CHANGED, Ended, finite, numbers

FOLDER = "tests/unit/experiments/batch"


class Here:
    """An executor without child processes."""

    def run(self, job: Job, orders: Sequence[Order], tell: Callable[[Ended], None]) -> list[Ended]:
        one = find_experiment(job.experiment.split(":")[0].rpartition(".")[2])
        found: list[Ended] = []
        for arm, seed in orders:
            settings: dict[str, Any] = {} if arm == BOTH else one.arms[arm == CHANGED]
            trial = Trial(job.subject, arm, settings, seed, Path())
            measures = numbers(one.measure(trial), arm)
            assert finite(measures), measures
            found.append(
                Ended(
                    arm,
                    seed,
                    "measured",
                    measures,
                    trial.used,
                    tuple(trial.notes),
                    fingerprint=trial.fingerprint,
                )
            )
            tell(found[-1])
        return found


def conduct(
    name: str,
    *,
    trainer: str = "",
    steps: int | None = None,
    settings: Any = None,
    margin: float | None = None,
    most: int = 20,
    **given: Any,
) -> Result:
    """Run an experiment of the catalogue on a subject of this folder."""
    here = {
        k: f"{FOLDER}/{v}" if isinstance(v, str) and v.startswith(("subjects.py:", "trainers.py:")) else v
        for k, v in given.items()
    }
    subject = Subject(f"{FOLDER}/{trainer}" if trainer else "", steps=steps, settings=settings or {}, given=here)
    return run_experiment(name, subject, Protocol(margin=margin, most=most), executor=Here())
