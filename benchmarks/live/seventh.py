"""The seventh live campaign: faults of seventh.toml, which end in collapse; no detector's author saw them.

    python benchmarks/live/seventh.py [--only TEXT] [--subject NAMES] [--part K/N] --folder FOLDER

Every run's rows, alarms and true returns go to FOLDER/<subject>-<fault>-<seed>.json.xz (a run that is there is not run
again); `publish_unseen.py --list seventh` judges them once. Run it from the root of the repository.
"""

from __future__ import annotations

from drawn_list import DrawnList

SEVENTH = DrawnList("seventh", twins=(600, 601, 602, 603))

if __name__ == "__main__":
    SEVENTH.record(__doc__ or "")
