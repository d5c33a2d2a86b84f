"""The fourth live campaign: faults of fourth.toml, which nobody who wrote a detector had seen, at drawn instants.

    python benchmarks/live/fourth.py [--only TEXT] [--subject NAMES] [--part K/N] --folder FOLDER

Every run's rows, alarms and true returns go to FOLDER/<subject>-<fault>-<seed>.json.xz (a run that is there is not run
again); `publish_unseen.py --list fourth` judges them once. Run it from the root of the repository.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from drawn_list import DrawnList


class WithLoops(DrawnList):
    """A list in which some subjects are loops written by hand."""

    def part(self, subject: str) -> Any:
        """Return the module that trains `subject`."""
        return import_module(f"{self.name}_hand") if subject.startswith("hand") else super().part(subject)


FOURTH = WithLoops("fourth", twins=(300, 301, 302))

if __name__ == "__main__":
    FOURTH.record(__doc__ or "")
