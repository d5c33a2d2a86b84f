"""The fifth live campaign: faults of fifth.toml whose harm comes slowly, which nobody who wrote a detector had seen.

    python benchmarks/live/fifth.py [--only TEXT] [--subject NAMES] [--part K/N] --folder FOLDER

Every run's rows, alarms and true returns go to FOLDER/<subject>-<fault>-<seed>.json.xz (a run that is there is not run
again); `publish_unseen.py --list fifth` judges them once. Run it from the root of the repository.
"""

from __future__ import annotations

from drawn_list import DrawnList

FIFTH = DrawnList("fifth", twins=(400, 401, 402, 403))

if __name__ == "__main__":
    FIFTH.record(__doc__ or "")
