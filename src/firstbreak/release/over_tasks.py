"""Scores of several tasks: each task has a unit of its own, so nothing is pooled before all are brought to one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from .alike import differing
from .evidence import UNKNOWN, Run, Score

GIVE = "--scale TASK=LOW:HIGH, the scores that count as 0 and as 1, for each task; or a release for each task"
ONE_A_TASK = "one protocol a task"
"""Stands for the protocols of several tasks that differ in nothing but the task."""


@dataclass(frozen=True)
class Pool:
    """Runs and rows of scores as they may be pooled."""

    runs: tuple[Run, ...]
    rows: tuple[Score, ...]
    tasks: int
    lower: bool
    """Whether less is better; on a scale from 0 to 1 more is."""
    apart: str = ""
    """Why the scores of several tasks may not be pooled; `""` where they may."""

    @property
    def scaled(self) -> str:
        """What to add where a pooled score is shown."""
        return ", each task on its scale" if self.tasks > 1 else ""


def pool(runs: Sequence[Run], rows: Sequence[Score], scale: Mapping[str, tuple[float, float]]) -> Pool:
    """Return runs and rows in one unit: those of a single task as they are, those of several from 0 to 1 each."""
    lower = any(run.lower for run in runs)
    tasks = sorted({run.task for run in runs if run.metric} or {run.task for run in runs})
    whole = Pool(tuple(runs), tuple(rows), len(tasks), lower)
    if len(tasks) < 2:
        return whole
    owner = {run.name: run for run in runs}
    for task in tasks:
        values = [s.score for s in rows if s.run in owner and owner[s.run].task == task]
        values += [run.best for run in runs if run.task == task and run.score.size]
        if task not in scale and (lower or not all(0 <= v <= 1 for v in values)):
            return replace(whole, apart=f"scores of {task or 'one task'} have a unit of their own: not pooled over "
                                        f"{len(tasks)} tasks")  # fmt: skip
    alike = _alike(runs, tasks)
    return Pool(
        tuple(_run(run, scale, alike) for run in runs),
        tuple(_row(s, owner[s.run], scale, alike) for s in rows if s.run in owner),
        len(tasks),
        lower=False,
    )


def _alike(runs: Sequence[Run], tasks: Sequence[str]) -> bool:
    """Whether the protocols of the tasks differ in nothing but the task, each task having one."""
    of_each = [{run.protocol for run in runs if run.task == task} for task in tasks]
    return all(len(found) == 1 and UNKNOWN not in found for found in of_each) and not differing(
        [run for run in runs if run.task in tasks]
    )


def _run(run: Run, scale: Mapping[str, tuple[float, float]], alike: bool) -> Run:
    lo, hi = scale.get(run.task, (0.0, 1.0))
    noise = None if run.noise is None else run.noise / abs(hi - lo)
    protocol = ONE_A_TASK if alike else run.protocol
    return replace(run, score=(run.score - lo) / (hi - lo), noise=noise, lower=False, protocol=protocol)


def _row(row: Score, run: Run, scale: Mapping[str, tuple[float, float]], alike: bool) -> Score:
    lo, hi = scale.get(run.task, (0.0, 1.0))
    protocol = ONE_A_TASK if alike and row.protocol == run.protocol else row.protocol
    return replace(row, score=(row.score - lo) / (hi - lo), protocol=protocol)


def rewards_alike(runs: Sequence[Run], others: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """Return runs whose training rewards are shares of what was seen on their task, where there are several tasks.

    Only the direction of the reward is judged, so any scale of the task's own will do.
    """
    both = [*runs, *others]
    tasks = {run.task for run in both if run.reward is not None}
    if len(tasks) < 2:
        return list(runs), list(others)
    seen = {task: [v for run in both if run.task == task for v in run.reward or ()] for task in tasks}

    def shared(run: Run) -> Run:
        if run.reward is None:
            return run
        lo, hi = min(seen[run.task]), max(seen[run.task])
        begun, ended = ((v - lo) / (hi - lo) if hi > lo else 0.5 for v in run.reward)
        return replace(run, reward=(begun, ended))

    return [shared(run) for run in runs], [shared(run) for run in others]
