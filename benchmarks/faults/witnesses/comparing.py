"""Trains a witness and the faulty run of its kind, and holds the log of the first against that of the other."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from benchmarks.faults import planting
from benchmarks.faults.catalogue import Task, tasks
from benchmarks.faults.plans import Plan
from benchmarks.faults.recording import Cell, Recording
from benchmarks.faults.witnesses.witness import Witness

Curve = tuple[list[Cell], list[Cell]]
COUNTS = ("time/env_steps", "time/iteration", "time/total_timesteps", "time/episodes")
"""Keys among those of time that count something: they are compared, too."""
CLOCKED = ("time/", "perf/", "step_time", "train_runtime", "train_samples_per_second", "train_steps_per_second")
"""Beginnings of the keys that hold seconds, or something per second: no two runs of one machine have the same."""
ELSEWHERE = ("total_flos", "train_loss")
"""What TRL logs once, after its last row, of the whole run; a stretch has none."""


PAID = ("reward/episode_return_mean", "reward/rollout_mean", "reward")
"""Keys of what is paid, as the frameworks name it."""


class Enough(BaseException):
    """As many rows as were asked for."""


class Stretch(Recording):
    """A recording that ends the training after some rows; after all of them where `rows` is None."""

    def __init__(self, rows: int | None) -> None:
        super().__init__()
        self.rows, self.taken = rows, 0

    def log(self, row: Mapping[str, Any], step: float) -> None:
        """Take in a row, and stop where it was the last."""
        super().log(row, step)
        self.taken += 1
        if self.taken == self.rows:
            raise Enough


@dataclass(frozen=True)
class Compared:
    """What came of holding two logs against each other."""

    rows: int
    """Rows of the longest key that was compared."""
    own_keys: int
    """Keys of the framework's log that are the same."""
    monitor_keys: int
    """Keys of the monitor's record that are the same."""
    different: tuple[str, ...]
    """Keys that are not the same: `own:` or `monitor:`, the name, the first row that differs."""
    settings: tuple[str, ...]
    """Settings that the monitor noted otherwise: names that the user gives."""
    unmatched: tuple[str, ...]
    """Keys that one of the two records of the monitor lacks: it has learned to measure more since."""
    clocked: int
    """Keys of time, which were not compared."""

    @property
    def equal(self) -> bool:
        """Whether nothing differs, and something was compared."""
        return not self.different and self.own_keys > 0 and self.rows > 0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "equal": self.equal}


@dataclass(frozen=True)
class Log:
    """What two runs are compared by."""

    own: Mapping[str, Curve]
    """The rows of the framework."""
    monitor: Mapping[str, Curve]
    """What the monitor measured."""
    settings: Mapping[str, Any]
    """What the monitor noted of the configuration."""
    whole: bool = True

    @classmethod
    def of_recorded(cls, run: Mapping[str, Any]) -> Log:
        """The log of a run of the corpus."""
        return cls(run["keys"], run["guarded"]["keys"], run["guarded"]["config"])


def witness_log(witness: Witness, seed: int, rows: int | None = None) -> Log:
    """Train the witness with the settings of its task; all of it, or its first rows."""
    log = log_of(lambda task, recording: witness.train(task, seed, recording), witness, rows)
    return Log(renamed(witness, log.own), renamed(witness, log.monitor), log.settings, log.whole)


def planted_log(witness: Witness, seed: int, rows: int | None = None) -> Log:
    """Train the faulty run of its kind as the benchmark plants it, from the first step."""
    plan = Plan(witness.subject, witness.task, "fault", witness.fault, seed, 0.0)
    family = planting.FAMILY[witness.subject]
    planting.load(family)
    subject: Any = importlib.import_module(f"benchmarks.faults.{family}")
    return log_of(lambda task, recording: subject.train(task, plan, 0.0, recording), witness, rows)


def log_of(train: Callable[[Task, Recording], None], witness: Witness, rows: int | None) -> Log:
    """Train, and stop after so many rows."""
    import torch

    torch.set_num_threads(1)
    recording = Stretch(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(Enough):
            train(tasks()[f"{witness.subject}:{witness.task}"], recording)
    return Log(recording.keys, recording.guarded, recording.guarded_config, rows is None)


def compare(ours: Log, theirs: Log) -> Compared:
    """Hold the log of a witness against that of a faulty run, which may be longer where ours is a stretch."""
    whole = ours.whole and theirs.whole
    lacking = [f"own:{name}" for name in sorted(ours.own.keys() ^ theirs.own.keys()) if whole and not clocked(name)]
    same_own, unlike_own = shared(ours.own, theirs.own, whole)
    same_watched, unlike_watched = shared(ours.monitor, theirs.monitor, whole)
    named = ours.settings.keys() & theirs.settings.keys()
    return Compared(
        rows=max((len(ours.own[name][0]) for name in same_own), default=0),
        own_keys=len(same_own),
        monitor_keys=len(same_watched),
        different=(*lacking, *(f"own:{one}" for one in unlike_own), *(f"monitor:{one}" for one in unlike_watched)),
        settings=tuple(name for name in sorted(named) if ours.settings[name] != theirs.settings[name]),
        unmatched=tuple(name for name in sorted(ours.monitor.keys() ^ theirs.monitor.keys()) if not clocked(name)),
        clocked=sum(map(clocked, ours.own)),
    )


def earned(log: Log) -> tuple[float, float] | None:
    """What is paid in the first and in the last fifth of a run: of a witness, how well it does what is meant."""
    for name in PAID:
        values = [float(v) for v in log.monitor.get(name, log.own.get(name, ((), ())))[1] if not isinstance(v, str)]
        part = len(values) // 5
        if part:
            return float(f"{fmean(values[:part]):.4g}"), float(f"{fmean(values[-part:]):.4g}")
    return None


def renamed(witness: Witness, keys: Mapping[str, Curve]) -> dict[str, Curve]:
    """The keys under the names that they have in the faulty run."""
    found: dict[str, Curve] = {}
    for key, curve in keys.items():
        name = key
        for mine, other in witness.renamed.items():
            name = name.replace(mine, other)
        found[name] = curve
    return found


def clocked(name: str) -> bool:
    """Whether a key holds time."""
    return name.startswith(CLOCKED) and name not in COUNTS


def shared(ours: Mapping[str, Curve], theirs: Mapping[str, Curve], whole: bool) -> tuple[list[str], list[str]]:
    """Names of the keys in both logs that are the same, and of those that are not, with the row.

    A key that one of two stretches has no row of is neither.
    """
    same: list[str] = []
    unlike: list[str] = []
    for name in sorted(ours.keys() & theirs.keys()):
        some = len(ours[name][0]) > 0 and len(theirs[name][0]) > 0
        if clocked(name) or not (whole or (some and name not in ELSEWHERE)):
            continue
        row = first_difference(ours[name], theirs[name], whole)
        if row is None:
            same.append(name)
        else:
            unlike.append(f"{name} at row {row}")
    return same, unlike


def first_difference(ours: Curve, theirs: Curve, whole: bool) -> int | None:
    """The first row in which step or value differ, to the last digit that is kept; None where there is none.

    Whole runs have as many rows as each other. Of stretches the shorter counts: a monitor may be told of the last row
    only after a run has been stopped.
    """
    mine, other = list(zip(*ours, strict=True)), list(zip(*theirs, strict=True))
    both = min(len(mine), len(other))
    if whole and len(mine) != len(other):
        return both
    return next((row for row in range(both) if tuple(mine[row]) != tuple(other[row])), None)
