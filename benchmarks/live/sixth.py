"""The sixth live campaign: faults of sixth.toml, drawn from what goes wrong in practice; no detector's author saw them.

    python benchmarks/live/sixth.py [--only TEXT] [--subject NAMES] [--part K/N] --folder FOLDER

Every run's rows, alarms and true returns go to FOLDER/<subject>-<fault>-<seed>.json.xz (a run that is there is not run
again); `publish_unseen.py --list sixth` judges them once. Run it from the root of the repository.
"""

from __future__ import annotations

from drawn_list import DrawnList

SIXTH = DrawnList("sixth", twins=(500, 501, 502, 503))

if __name__ == "__main__":
    SIXTH.record(__doc__ or "")
