"""Which runs that were to be healthy lost, all by themselves, what they had learned: trainings do collapse unaided."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.faults.gate import as_float, score_of

WINDOW = 0.2
"""Share of the points of the true score that are averaged. Engineering default."""
LOST = 0.5
"""Share of what was gained that may be lost again. Engineering default: curves of DQN go up and down by a third."""
GAINED_SDS = 2.0
"""Below so many deviations of single points from one another nothing was learned that could be lost."""


def lost_frac(run: Mapping[str, Any]) -> float:
    """How much of the gain from the first window to the best one the last quarter of a run has lost again."""
    scores = [as_float(value) for value in run["truth"]["score"]]
    width = max(1, round(WINDOW * len(scores)))
    if len(scores) < 2 * width:
        return 0.0
    windows = [fmean(scores[i : i + width]) for i in range(len(scores) - width + 1)]
    gained = max(windows) - windows[0]
    steps = [abs(b - a) for a, b in pairwise(scores)]
    last = score_of(run)
    if last is None or gained <= GAINED_SDS * fmean(steps):
        return 0.0
    return max(0.0, (max(windows) - last) / gained)


def collapsed(runs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Unbroken runs that lost more than half of their gain. A curriculum that makes the task harder is meant to."""
    found = [(run, lost_frac(run)) for run in runs if run["fault"] is None]
    return [
        {"id": run["id"], "kind": run["kind"], "lost_frac": round(lost, 3)}
        for run, lost in found
        if lost > LOST and not run["kind"].endswith("curriculum-shift")
    ]


def write_collapsed(folder: Path, runs: Iterable[Mapping[str, Any]]) -> None:
    """Write `collapsed.json`: alarms on these runs may well be right."""
    (folder / "collapsed.json").write_text(json.dumps(collapsed(runs), indent=1) + "\n", encoding="utf-8")
