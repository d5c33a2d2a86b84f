"""The eleventh live campaign: faults that are known, where nobody has tried them, once more and larger.

    python benchmarks/live/eleventh.py [--only TEXT] [--subject NAMES] [--part K/N] --folder FOLDER

Every run's rows, alarms and true returns go to FOLDER/<subject>-<fault>-<seed>.json.xz (a run that is there is not run
again); `publish_unseen.py --list eleventh` judges them once. Run it from the root of the repository.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tenth
from campaign import Recorded
from drawn_list import drawn
from eleventh_stand_in import standing_in
from tenth import EARLIEST, EARLIEST_OF_GRPO, LATEST, LATEST_OF_GRPO, Tenth
from worlds import Truth

FIRST_SEED, SEEDS = 2000, 900
"""Seeds of the faults are drawn among so many from the first on."""


def seed_of(subject: str, fault: str) -> int:
    """Return the seed of a run with a fault: nobody chose it."""
    return FIRST_SEED + int(SEEDS * drawn("eleventh seed", subject, fault))


def instant(subject: str, fault: str, seed: int) -> float:
    """Return the share of the run after which the fault is switched on: nobody chose it."""
    first, last = (EARLIEST_OF_GRPO, LATEST_OF_GRPO) if subject.startswith("grpo") else (EARLIEST, LATEST)
    return first + (last - first) * drawn("eleventh instant", subject, fault, seed)


@dataclass(frozen=True)
class Eleventh(Tenth):
    """The list: as the tenth, with seeds, instants and trainers of its own."""

    def orders(self, only: str = "", subject: str = "") -> list[tuple[str, str, int]]:
        """What is to be run, twins and faults in a drawn order; every fault has a seed of its own."""
        with standing_in(tenth, seed_of=seed_of):
            return super().orders(only, subject)

    def part(self, subject: str) -> Any:
        """Return the module that trains `subject`."""
        if not subject.startswith("torchrl"):
            return super().part(subject)
        import eleventh_torchrl

        return eleventh_torchrl

    def train(self, subject: str, fault: str, seed: int, monitor: Recorded, truth: Truth) -> None:
        """Train, with the adapter of the framework."""
        with standing_in(tenth, instant=instant):
            super().train(subject, fault, seed, monitor, truth)


ELEVENTH = Eleventh("eleventh", twins=(2900, 2901, 2902, 2903, 2904, 2905))

if __name__ == "__main__":
    ELEVENTH.record(__doc__ or "")
