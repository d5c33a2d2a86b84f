"""The third live campaign: faults of third.toml, which nobody who wrote a detector had seen, at drawn instants.

    python benchmarks/live/third.py [--only TEXT] [--subject NAMES] [--part K/N] --folder FOLDER

Every run's rows, alarms and true returns go to FOLDER/<subject>-<fault>-<seed>.json.xz (a run that is there is not run
again); `publish_unseen.py --list third` judges them once. Run it from the root of the repository.
"""

from __future__ import annotations

from drawn_list import DrawnList

THIRD = DrawnList("third", twins=(200, 201, 202))

if __name__ == "__main__":
    THIRD.record(__doc__ or "")
