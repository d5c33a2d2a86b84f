"""The scores of several runs on one or more tasks, and what refuses to be summed up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...errors import InputError
from ...series import Floats

Tasks = tuple[Floats, ...]
"""One array a task, [runs]; the runs of different tasks need not be equally many."""
Scores = Mapping[str, Sequence[float]] | Sequence[Floats] | Floats


class SingleSeedError(InputError):
    """One run was given where an interval was asked for: there is nothing to tell its noise from."""

    kind = "single_seed"


class UnequalRunsError(InputError):
    """Tasks with different numbers of runs were pooled: those with more would weigh more."""

    kind = "unequal_runs"


def as_tasks(scores: Scores) -> Tasks:
    """Return one array of runs a task.

    Args:
        scores: [runs] of one task, [runs, tasks] (the layout of rliable), or one array of runs a task, named or not.

    Raises:
        InputError: there are no scores, or some are NaN or infinite.
    """
    if isinstance(scores, Mapping):
        tasks = tuple(np.asarray(v, np.float64).ravel() for v in scores.values())
        names = [str(n) for n in scores]
    elif isinstance(scores, np.ndarray):
        array = scores.astype(np.float64)
        tasks = tuple(array.T.copy()) if array.ndim == 2 else (array.ravel(),)
        names = [f"number {i + 1}" for i in range(len(tasks))]
    else:
        tasks = tuple(np.asarray(v, np.float64).ravel() for v in scores)
        names = [f"number {i + 1}" for i in range(len(tasks))]
    if not tasks:
        raise InputError("No scores were given.", "Give one list of runs for each task.")
    for name, task in zip(names, tasks, strict=True):
        if not task.size:
            raise InputError(f"Task {name} has no runs.", "Leave the task out, or give its scores.")
        if not np.isfinite(task).all():
            bad = int(np.count_nonzero(~np.isfinite(task)))
            raise InputError(
                f"Task {name}: {bad} of {task.size} scores are NaN or infinite.",
                "A run that died has a score too: the worst, or that of its last checkpoint. Leaving it out flatters.",
            )
    return tasks


def fewest(tasks: Tasks) -> int:
    """Return the number of runs of the task that has the fewest."""
    return min(task.size for task in tasks)


def need_seeds(tasks: Tasks, what: str = "An interval") -> int:
    """Return the fewest runs of a task.

    Raises:
        SingleSeedError: a task has a single run.
    """
    n = fewest(tasks)
    if n < 2:
        raise SingleSeedError(
            f"{what} needs at least 2 runs of every task; one task has a single run.",
            "Train again with other seeds: 2 give a first, very wide interval, 5 to 10 a usable one.",
        )
    return n
