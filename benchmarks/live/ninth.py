"""The ninth live campaign: faults of ninth.toml, which end in collapse; no detector's author saw them.

    python benchmarks/live/ninth.py [--only TEXT] [--subject NAMES] [--part K/N] --folder FOLDER

Every run's rows, alarms and true returns go to FOLDER/<subject>-<fault>-<seed>.json.xz (a run that is there is not run
again); `publish_unseen.py --list ninth` judges them once. Run it from the root of the repository.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from campaign import Recorded
from drawn_list import DrawnList, instant
from eighth import with_lost_returns
from worlds import Truth

from firstbreak.monitor.world import World


@dataclass(frozen=True)
class Ninth(DrawnList):
    """The list, with what it does otherwise: TorchRL's trainers, and returns that are no numbers."""

    def part(self, subject: str) -> Any:
        """Return the module that trains `subject`."""
        if not subject.startswith("torchrl"):
            return super().part(subject)
        import ninth_torchrl

        return ninth_torchrl

    def monitor_of(self, subject: str) -> tuple[Recorded, int]:
        """Return the monitor that a user would give this trainer, and over how many episodes returns are averaged."""
        if not subject.startswith("torchrl"):
            return super().monitor_of(subject)
        part = self.part(subject)
        return Recorded(config=part.settings_of(subject)), part.SUBJECTS[subject][-1]

    def train(self, subject: str, fault: str, seed: int, monitor: Recorded, truth: Truth) -> None:
        """Train, with the adapter of the framework."""
        if not subject.startswith("torchrl"):
            super().train(subject, fault, seed, monitor, truth)
            return
        self.part(subject).train(
            subject, fault, seed, instant(subject, fault, seed), monitor, World(monitor), truth
        )  # fmt: skip

    def guarded(self, subject: str, fault: str, seed: int) -> dict[str, Any]:
        """Train once with the monitor beside it."""
        found = super().guarded(subject, fault, seed)
        unknown = sum(not math.isfinite(level) for _, level in found["episodes"])
        return {**found, "episodes": with_lost_returns(found["episodes"]), "returns_without_number": unknown}


NINTH = Ninth("ninth", twins=(800, 801, 802, 803))

if __name__ == "__main__":
    NINTH.record(__doc__ or "")
