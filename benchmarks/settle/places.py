"""A recorded run as something that can be made again: what is trained, what was done to it, and from when on.

A child process is given addresses (`module:name`) and plain data only, so a place has a name that is an identifier:
`ppo__CartPole_v1__reward_flipped__from_start`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from benchmarks.faults import planting
from benchmarks.faults.catalogue import Task, faults, healthy, tasks
from benchmarks.faults.one_run import switch_frac
from benchmarks.faults.plans import Plan

NEVER, START, AT = "never", "from_start", "at_"
BETWEEN = "__"


@dataclass(frozen=True)
class Place:
    """A subject on a task, with the fault or the harmless change of a recorded run."""

    subject: str
    task: str
    what: str
    """The fault, the hard negative, or `clean`."""
    switch: float | None
    """Share of the run at which it is switched on; None where nothing is."""

    @property
    def name(self) -> str:
        """What it is called in an address."""
        when = NEVER if self.switch is None else START if not self.switch else f"{AT}{round(1000 * self.switch):03d}"
        return BETWEEN.join((self.subject, *map(spelt, (self.task, self.what)), when))

    @property
    def entry(self) -> Task:
        """The task as the benchmark lists it."""
        return tasks()[f"{self.subject}:{self.task}"]

    @property
    def plan(self) -> Plan:
        """The plan of the run, as planting asks for it."""
        kind = "fault" if self.what in faults() else "healthy"
        return Plan(self.subject, self.task, kind, self.what, 0, self.switch)


def spelt(text: str) -> str:
    """Return a text as part of an identifier."""
    return text.replace("-", "_")


@cache
def _tasks() -> Mapping[tuple[str, str], str]:
    return {(task.subject, spelt(task.name)): task.name for task in tasks().values()}


@cache
def _whats() -> Mapping[str, str]:
    return {spelt(name): name for name in (*faults(), *healthy())}


def place_named(name: str) -> Place:
    """Return the place of a name.

    Raises:
        KeyError: there is none.
    """
    parts = name.split(BETWEEN)
    if len(parts) != 4:
        raise KeyError(name)
    subject, task, what, when = parts
    switch = None if when == NEVER else 0.0 if when == START else int(when.removeprefix(AT)) / 1000
    return Place(subject, _tasks()[subject, task], _whats()[what], switch)


def place_of(run: Mapping[str, Any]) -> Place:
    """Return the place of a recorded run, as its file has it."""
    planting.load(planting.FAMILY[run["subject"]])
    what = str(run["id"]).split("/")[2]
    plan = Plan(run["subject"], run["task"], run["kind"], what, int(run["seed"]), run["start_frac"])
    return Place(plan.subject, plan.task, what, switch_frac(plan))
