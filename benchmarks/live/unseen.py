"""The second live campaign: faults of unseen.toml, on tasks that no rule was made with, switched on at a drawn instant.

    python benchmarks/live/unseen.py [--only TEXT] [--subject NAMES] [--part K/N] --folder FOLDER

Every run's rows, alarms and true returns go to FOLDER/<subject>-<fault>-<seed>.json.xz (a run that is there is not run
again); `publish.py` judges them. Run it from the root of the repository.
"""

from __future__ import annotations

from drawn_list import DrawnList

UNSEEN = DrawnList("unseen", twins=(100, 101, 102))

if __name__ == "__main__":
    UNSEEN.record(__doc__ or "")
