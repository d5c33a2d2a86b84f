"""The tenth live campaign: faults that are known, in trainers, tasks, seeds and at instants that nobody has tried.

    python benchmarks/live/tenth.py [--only TEXT] [--subject NAMES] [--part K/N] --folder FOLDER

Every run's rows, alarms and true returns go to FOLDER/<subject>-<fault>-<seed>.json.xz (a run that is there is not run
again); `publish_unseen.py --list tenth` judges them once. Run it from the root of the repository.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from campaign import Recorded
from drawn_list import DrawnList, drawn
from eighth import with_lost_returns
from worlds import Truth

from firstbreak.monitor.world import World

EARLIEST, LATEST = 0.4, 0.7
"""Shares of a run between which the instant of a fault is drawn."""
EARLIEST_OF_GRPO, LATEST_OF_GRPO = 0.5, 0.8
"""The same of GRPO, which learns late."""
FIRST_SEED, SEEDS = 1000, 900
"""Seeds of the faults are drawn among so many from the first on."""


def seed_of(subject: str, fault: str) -> int:
    """Return the seed of a run with a fault: nobody chose it."""
    return FIRST_SEED + int(SEEDS * drawn("tenth seed", subject, fault))


def instant(subject: str, fault: str, seed: int) -> float:
    """Return the share of the run after which the fault is switched on: nobody chose it."""
    first, last = (EARLIEST_OF_GRPO, LATEST_OF_GRPO) if subject.startswith("grpo") else (EARLIEST, LATEST)
    return first + (last - first) * drawn("tenth instant", subject, fault, seed)


@dataclass(frozen=True)
class Tenth(DrawnList):
    """The list, with what it does otherwise: seeds, instants, trainers, and returns that are no numbers."""

    def orders(self, only: str = "", subject: str = "") -> list[tuple[str, str, int]]:
        """What is to be run, twins and faults in a drawn order; every fault has a seed of its own."""
        found = [(name, f["id"], seed_of(name, f["id"])) for f in self.faults().values() for name in f["subjects"]]
        twins = [(name, "", seed) for seed in self.twins for name in sorted({name for name, _, _ in found})]
        wanted = sorted([*twins, *found], key=lambda order: drawn("order", *order))
        return [o for o in wanted if only in o[1] and (not subject or o[0] in subject.split(","))]

    def part(self, subject: str) -> Any:
        """Return the module that trains `subject`."""
        if not subject.startswith("torchrl"):
            return super().part(subject)
        import tenth_torchrl

        return tenth_torchrl

    def monitor_of(self, subject: str) -> tuple[Recorded, int]:
        """Return the monitor that a user would give this trainer, and over how many episodes returns are averaged."""
        if not subject.startswith("torchrl"):
            return super().monitor_of(subject)
        part = self.part(subject)
        return Recorded(config=part.settings_of(subject)), part.SUBJECTS[subject][-1]

    def train(self, subject: str, fault: str, seed: int, monitor: Recorded, truth: Truth) -> None:
        """Train, with the adapter of the framework."""
        share, part = instant(subject, fault, seed), self.part(subject)
        if subject.startswith("grpo"):
            part.train(fault, seed, share, monitor, truth)
            return
        world = World(monitor)
        if subject.startswith("sb3"):
            from firstbreak.monitor.adapters.sb3 import MonitorCallback

            part.train(subject, fault, seed, share, lambda: MonitorCallback(monitor), world, truth)
        else:
            part.train(subject, fault, seed, share, monitor, world, truth)

    def guarded(self, subject: str, fault: str, seed: int) -> dict[str, Any]:
        """Train once with the monitor beside it."""
        found = super().guarded(subject, fault, seed)
        unknown = sum(not math.isfinite(level) for _, level in found["episodes"])
        return {**found, "episodes": with_lost_returns(found["episodes"]), "returns_without_number": unknown}


TENTH = Tenth("tenth", twins=(1900, 1901, 1902, 1903))

if __name__ == "__main__":
    TENTH.record(__doc__ or "")
