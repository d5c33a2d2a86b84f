"""The faults, the tasks and the healthy runs, as the three TOML files beside this one list them."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.faults.planting import FAMILY

HERE = Path(__file__).resolve().parent
STARTS = ("start", "midway")


def checksum(text: str) -> int:
    """A number that follows from the text alone."""
    return int(sha256(text.encode()).hexdigest(), 16)


@dataclass(frozen=True)
class Task:
    """What is trained, and for how long."""

    subject: str
    name: str
    total: int
    settings: dict[str, Any]
    half: str
    """`dev` or `held`; `fresh` for what was recorded last."""
    world: str = ""
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    late: bool = False
    """Added after the halves were dealt: for tuning only."""
    fresh: bool = False
    """Chosen and recorded after rules were mended on what the held half had shown: never tuned on."""

    @property
    def key(self) -> str:
        """Subject and name."""
        return f"{self.subject}:{self.name}"

    @property
    def clock(self) -> str:
        """What its steps count."""
        return "env_steps" if FAMILY[self.subject] in ("sb3", "reference") else "updates"


@dataclass(frozen=True)
class Fault:
    """A fault, what a right answer names, and where it is planted."""

    id: str
    source: str
    what: str
    link: str
    cause: str
    component: str
    first_metric: str
    subjects: tuple[str, ...]
    also_right: tuple[str, ...] = ()
    why_also: str = ""
    starts: tuple[str, ...] = STARTS
    protocol: bool = False
    oracle: str = ""

    @property
    def half(self) -> str:
        """`dev` or `held`, by the parity of a checksum of the id: nobody chooses."""
        return ("dev", "held")[checksum(self.id) % 2]


@dataclass(frozen=True)
class Healthy:
    """A way for a run to be healthy: plain, or a hard negative that looks like trouble."""

    id: str
    what: str
    tasks: tuple[str, ...]
    runs: int
    """Seeds of each task."""
    hard: bool = True
    first_seed: int = 100


@cache
def tasks() -> dict[str, Task]:
    """Every task by its key."""
    listed = tomllib.loads((HERE / "tasks.toml").read_text(encoding="utf-8"))["task"]
    halves = halves_of(
        [f"{one['subject']}:{one['name']}" for one in listed if not (one.get("late") or one.get("fresh"))]
    )
    made = [Task(half=half_of(one, halves), **one) for one in listed]
    return {task.key: task for task in made}


def half_of(listed: Mapping[str, Any], halves: Mapping[str, str]) -> str:
    """The half of a listed task, by what the others were dealt."""
    return "fresh" if listed.get("fresh") else halves.get(f"{listed['subject']}:{listed['name']}", "dev")


def halves_of(keys: list[str]) -> dict[str, str]:
    """Tasks of each family in the order of their checksums, dealt to the two halves in turn."""
    families: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        families[FAMILY[key.partition(":")[0]]].append(key)
    halves: dict[str, str] = {}
    for name, members in families.items():
        # Which half is dealt to first is as much left to chance, or families of one would all be on one side.
        first = checksum(name) % 2
        for i, key in enumerate(sorted(members, key=checksum)):
            halves[key] = ("dev", "held")[(i + first) % 2]
    return halves


@cache
def faults() -> dict[str, Fault]:
    """Every fault by its id."""
    listed = tomllib.loads((HERE / "faults.toml").read_text(encoding="utf-8"))["fault"]
    made = [Fault(**{k: tuple(v) if isinstance(v, list) else v for k, v in one.items()}) for one in listed]
    return {fault.id: fault for fault in made}


@cache
def healthy() -> dict[str, Healthy]:
    """Every kind of healthy run by its id."""
    listed = tomllib.loads((HERE / "healthy.toml").read_text(encoding="utf-8"))["healthy"]
    made = [Healthy(**{k: tuple(v) if isinstance(v, list) else v for k, v in one.items()}) for one in listed]
    return {one.id: one for one in made}


def task_of(place: str) -> Task:
    """The task that a fault names as `subject` (its first task) or `subject:task`."""
    if ":" in place:
        return tasks()[place]
    return next(task for task in tasks().values() if task.subject == place)
