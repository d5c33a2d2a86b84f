"""Which runs are made: screening, the gate, healthy ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from benchmarks.faults.catalogue import Fault, checksum, faults, healthy, task_of, tasks

EARLIEST, LATEST = 0.3, 0.7
"""Share of the run at which a fault is switched on midway (fault list, rule 3: healthy before)."""
GATE_SEEDS = 5
"""Runs with and without a fault that the gate asks for (fault list, rule 1)."""
SCREEN_SEEDS = (0, 1)
"""Seeds of the screen, which are those of the gate's first runs."""
MIDWAY_TOO = 5
"""First seed of the runs that are switched on midway where the same fault is there from the start in the others, whose
seeds lie below. Faults in mid-run pass the gate less often (what has been learned is not lost of everything), so that
one kind of start at each place in turn left fewer of them than half."""


@dataclass(frozen=True)
class Plan:
    """One run to be made."""

    subject: str
    task: str
    kind: str
    """`fault`, `healthy` or `hard_negative:<what>`."""
    name: str
    """The fault, the hard negative, or `clean`."""
    seed: int
    start_frac: float | None = None
    half: str = "dev"

    @property
    def id(self) -> str:
        """Its name everywhere."""
        return f"{self.subject}/{self.task}/{self.name}/{self.seed}"

    @property
    def fault(self) -> str | None:
        """The fault, if it has one."""
        return self.name if self.kind == "fault" else None


def kind_of_start(fault: Fault, place: str) -> str:
    """`start` or `midway`: one kind at each place of a fault, in turn, so that five seeds are enough."""
    return fault.starts[(checksum(fault.id) // 2 + fault.subjects.index(place)) % len(fault.starts)]


def midway_too(fault: Fault, place: str) -> bool:
    """Whether it is there from the start in turn, and can be switched on as well."""
    return kind_of_start(fault, place) == "start" and "midway" in fault.starts


def start_of(fault: Fault, place: str, seed: int) -> float:
    """Where a fault is switched on: at once, or at a random share of the run."""
    if kind_of_start(fault, place) == "start" and not (seed >= MIDWAY_TOO and midway_too(fault, place)):
        return 0.0
    task = task_of(place)
    chance = Random(checksum(f"{task.key}/{fault.id}/{seed}"))
    return round(chance.uniform(EARLIEST, LATEST), 3)


def fault_plans(fault: Fault, place: str, seeds: range) -> Iterator[Plan]:
    """The runs of a fault at one place."""
    task = task_of(place)
    for seed in seeds:
        yield Plan(task.subject, task.name, "fault", fault.id, seed, start_of(fault, place, seed), fault.half)


def screening() -> Iterator[Plan]:
    """Two runs of every fault at every place, and two more where it is switched on midway as well."""
    for first in (0, MIDWAY_TOO):
        for seed in SCREEN_SEEDS:
            for fault in faults().values():
                for place in fault.subjects:
                    if first == 0 or midway_too(fault, place):
                        yield from fault_plans(fault, place, range(first + seed, first + seed + 1))


def gate(fault: Fault, place: str, seeds: int = GATE_SEEDS) -> Iterator[Plan]:
    """The runs by which a fault is judged at a place."""
    yield from fault_plans(fault, place, range(seeds))


def gate_midway(fault: Fault, place: str, seeds: int = GATE_SEEDS) -> Iterator[Plan]:
    """The runs by which it is judged there when switched on midway as well; none where it is not."""
    if midway_too(fault, place):
        yield from fault_plans(fault, place, range(MIDWAY_TOO, MIDWAY_TOO + seeds))


def twins(seeds: int = GATE_SEEDS) -> Iterator[Plan]:
    """Unbroken runs of every task in which a fault is planted, with the seeds of the gate."""
    for seed in range(seeds):
        for key in dict.fromkeys(task_of(place).key for fault in faults().values() for place in fault.subjects):
            task = tasks()[key]
            yield Plan(task.subject, task.name, "healthy", "clean", seed, None, task.half)


def healthy_plans() -> Iterator[Plan]:
    """The healthy runs, seed by seed, so that a recording that is broken off holds some of each."""
    for i in range(max(one.runs for one in healthy().values())):
        for one in healthy().values():
            for place in one.tasks if i < one.runs else ():
                task = task_of(place)
                kind = f"hard_negative:{one.id}" if one.hard else "healthy"
                yield Plan(task.subject, task.name, kind, one.id, one.first_seed + i, None, task.half)
