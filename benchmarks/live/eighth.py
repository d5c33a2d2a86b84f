"""The eighth live campaign: faults of eighth.toml, which end in collapse; no detector's author saw them.

    python benchmarks/live/eighth.py [--only-number I --of N] --folder FOLDER
    python benchmarks/live/eighth.py --count

Every run's rows, alarms and true returns go to FOLDER/<subject>-<fault>-<seed>.json.xz (a run that is there is not run
again); with `--only-number` run I alone is made, counted from 0 in the drawn order, of N in all. `publish_unseen.py
--list eighth` judges them once. Needs Python, the repository's files and PYTHONPATH=src, nothing else.
"""

from __future__ import annotations

import argparse
import json
import lzma
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drawn_list import DrawnList


def with_lost_returns(episodes: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return episodes in which a true return that is no number is the lowest of the run: all has been lost."""
    lowest = min((level for _, level in episodes if math.isfinite(level)), default=0.0)
    return [(step, level if math.isfinite(level) else lowest) for step, level in episodes]


@dataclass(frozen=True)
class Eighth(DrawnList):
    """The list, with what it does otherwise: returns that are no numbers, and one run a process."""

    def guarded(self, subject: str, fault: str, seed: int) -> dict[str, Any]:
        """Train once with the monitor beside it."""
        began = time.process_time()
        found = super().guarded(subject, fault, seed)
        unknown = sum(not math.isfinite(level) for _, level in found["episodes"])
        return {
            **found, "episodes": with_lost_returns(found["episodes"]), "returns_without_number": unknown,
            "processor_seconds": round(time.process_time() - began, 1),
        }  # fmt: skip

    def record(self, doc: str) -> None:
        """Run what the command line asks for, and is not there yet."""
        orders, args = self.orders(), asked(doc)
        if args.count:
            print(len(orders))
            return
        if args.folder is None:
            raise SystemExit("Where should runs go? Say --folder FOLDER.")
        if args.of not in (0, len(orders)):
            raise SystemExit(f"There are {len(orders)} runs, not {args.of}: is this the list that you think it is?")
        import torch

        torch.set_num_threads(1)
        args.folder.mkdir(parents=True, exist_ok=True)
        for order in orders if args.only_number is None else [orders[args.only_number]]:
            self.kept(args.folder, *order)

    def kept(self, folder: Path, subject: str, fault: str, seed: int) -> None:
        """Make one run, unless it is there."""
        place = folder / f"{subject}-{fault or 'twin'}-{seed}.json.xz"
        if place.exists():
            return
        found = self.guarded(subject, fault, seed)
        part = folder / f"{place.name}.{os.getpid()}.part"
        part.write_bytes(lzma.compress((json.dumps(found) + "\n").encode()))
        part.rename(place)
        print(
            f"{subject:18} {fault or 'twin':26} {found['processor_seconds']:6.1f} s of processor time, "
            f"{len(found['rows'])} rows",
            flush=True,
        )


def asked(doc: str) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only-number", type=int, default=None, help="one run, counted from 0 in the drawn order")
    parser.add_argument("--of", type=int, default=0, help="how many runs there should be in all")
    parser.add_argument("--count", action="store_true", help="say how many runs there are")
    parser.add_argument("--folder", type=Path)
    return parser.parse_args()


EIGHTH = Eighth("eighth", twins=(700, 701, 702, 703))


if __name__ == "__main__":
    EIGHTH.record(__doc__ or "")
