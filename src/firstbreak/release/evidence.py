"""What a release rests on. Plain data: the reading is in `runs`, `scores` and `results`, the judging in `gate`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..context.comparing import Difference
from ..context.contents import Context
from ..diagnosis import Diagnosis
from ..evaluation.statistics.intervals import Interval
from ..evaluation.statistics.profiles import Profile
from ..inspection import Inspection
from ..series import Floats
from .structure import Structure

UNKNOWN = "not recorded"
"""The protocol of a run that says nothing about how it is evaluated."""


@dataclass(frozen=True)
class Stored:
    """A checkpoint with a role: best, last or failed."""

    run: str
    role: str
    path: str
    sha256: str
    size_bytes: int
    step: float | None = None
    score: float | None = None
    """Of the evaluation that it was chosen by."""
    how: str = ""
    """How the role was told."""
    structure: Structure | None = None
    """Whether it is whole; None when it was not looked at."""
    copied_to: str = ""
    """Inside the folder of the release; `""` when it was too large to copy."""


@dataclass(frozen=True)
class Run:
    """One run of the release, or of the baseline."""

    name: str
    path: str
    diagnosis: Diagnosis
    task: str
    algorithm: str
    seed: str
    """`""` when it is not known."""
    protocol: str
    """A digest of the settings of evaluation, or `UNKNOWN`."""
    protocol_file: str = ""
    """The name of the protocol file that the digest is of; `""` where there is none."""
    protocol_settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    doubt: str = ""
    """In which field the run's own settings contradict its protocol file, in words; `""` where they do not."""
    context: Context | None = None
    metric: str = ""
    """The evaluation metric, `""` when there is none."""
    step: Floats = field(default_factory=lambda: np.empty(0))
    score: Floats = field(default_factory=lambda: np.empty(0))
    """Evaluations in the order in which they were made [E]; finite."""
    noise: float | None = None
    """Standard error of one evaluation, at the best; None when it is not known."""
    reward: tuple[float, float] | None = None
    """Training reward of the first and of the last tenth of the run."""
    crashed: bool = False
    ended: str = ""
    """finished, crashed, failed, killed, running, stalled, or `""`."""
    lower: bool = False
    """Whether less is better: an error, a cost, a time."""

    @property
    def top(self) -> int | None:
        """Which evaluation is the best; None when there is none."""
        if not self.score.size:
            return None
        return int(np.argmin(self.score) if self.lower else np.argmax(self.score))

    @property
    def best(self) -> float:
        """The best evaluation; NaN when there is none."""
        return math.nan if self.top is None else float(self.score[self.top])

    @property
    def last_step(self) -> float:
        """Where the run ends on its clock."""
        return self.diagnosis.log.last_step


@dataclass(frozen=True)
class Score:
    """One row of a table of scores: `split` of data or seeds, of which checkpoint, of which run."""

    split: str
    checkpoint: str
    run: str
    score: float
    protocol: str = ""
    source: str = ""


@dataclass(frozen=True)
class Group:
    """The runs of one algorithm on one task under one protocol: only these are compared with each other."""

    task: str
    algorithm: str
    protocol: str
    runs: tuple[str, ...]
    scores: tuple[float, ...]
    """At the common end; of a crashed run its last."""
    horizon: float
    clock: str
    metric: str
    best: tuple[float, ...] = ()
    """The best evaluation of each run: chosen, so too good."""
    iqm: Interval | None = None
    mean: Interval | None = None
    coverage: str = ""
    """What the interval holds when measured."""
    profile: Profile | None = None
    baseline: tuple[float, ...] = ()
    baseline_profile: Profile | None = None
    improvement: Interval | None = None
    """Probability that a run of the release beats one of the baseline."""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Results:
    """Many seeds together, group by group, and over tasks where their scores are of one unit."""

    groups: tuple[Group, ...] = ()
    overall: Interval | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Selection:
    """What choosing the best checkpoint by its evaluation gained that is not there on fresh seeds."""

    runs: tuple[str, ...] = ()
    chosen: tuple[float, ...] = ()
    fresh: tuple[float, ...] = ()
    gain: Interval | None = None
    """By how much the score at the choice is better than that on fresh seeds."""
    corrected: Interval | None = None
    """Score on fresh seeds."""
    evaluations: int = 0
    """Among how many evaluations the choice was made, at most over the runs."""
    expected: float | None = None
    """The most that the noise of single evaluations can add to the best of them; None when their noise is not known."""
    remarks: tuple[str, ...] = ()
    apart: str = ""
    """Why the choice and the fresh seeds are not compared, or the fresh seeds not pooled; `""` where they are."""


@dataclass(frozen=True)
class Change:
    """How something moved: the difference with its interval, where there are runs enough for one."""

    before: float
    after: float
    difference: Interval | None
    runs: int
    against: str
    """What `before` is."""
    lower: bool = False
    """Whether less is better."""

    @property
    def better(self) -> str:
        """`better`, `worse`, or `unclear`."""
        good = "down" if self.lower else "up"
        return self.direction if self.direction == "unclear" else "better" if self.direction == good else "worse"

    @property
    def direction(self) -> str:
        """`up`, `down`, or `unclear` when the interval holds 0 or there is none."""
        if self.difference is None or self.difference.lo <= 0.0 <= self.difference.hi:
            return "unclear"
        return "up" if self.difference.lo > 0 else "down"


@dataclass(frozen=True)
class Looks:
    """What a ledger says of the private set."""

    looks: int
    budget_looks: int | None
    faults: tuple[str, ...] = ()
    """Signs that the ledger was changed by hand."""
    protocols: tuple[str, ...] = ()
    """Hashes of the protocols that the private set was looked at under."""


@dataclass(frozen=True)
class Odd:
    """A run that differs from the first of its task in more than the seed."""

    run: str
    against: str
    differences: tuple[Difference, ...]
    """Those that may change the result, the likeliest first."""


@dataclass(frozen=True)
class Line:
    """One row of a checklist. `status` is done, failed, missing or not needed; `evidence` names files or findings."""

    id: str
    question: str
    status: str
    answer: str
    evidence: tuple[str, ...] = ()
    add: str = ""
    """What would turn `missing` into an answer."""


@dataclass(frozen=True)
class Evidence:
    """Everything that the gate judges."""

    runs: tuple[Run, ...]
    baseline: tuple[Run, ...] = ()
    results: Results = field(default_factory=Results)
    selection: Selection = field(default_factory=Selection)
    private: Change | None = None
    private_protocols: tuple[str, ...] = ()
    private_hashes: tuple[str, ...] = ()
    """Of several tasks the protocol of each, where `private_protocols` takes them for one."""
    units: str = ""
    """Why the scores of several tasks are not pooled; `""` where there is one task, or they are in one unit."""
    looks: Looks | None = None
    reward: Change | None = None
    odd: tuple[Odd, ...] = ()
    checkpoints: tuple[Stored, ...] = ()
    samples: Inspection | None = None
    before: tuple[Line, ...] = ()
    during: tuple[Line, ...] = ()
    problems: tuple[str, ...] = ()

    def of_role(self, role: str) -> list[Stored]:
        """Return the checkpoints of a role."""
        return [one for one in self.checkpoints if one.role == role]


def count(n: int, one: str) -> str:
    """Return `1 run`, `2 runs`."""
    return f"{n} {one}{'' if n == 1 else 's'}"


def names(runs: Sequence[Run], most: int = 4) -> str:
    """Return the names of runs, at most `most`."""
    left = len(runs) - most
    return ", ".join(run.name for run in runs[:most]) + (f" and {left} more" if left > 0 else "")
