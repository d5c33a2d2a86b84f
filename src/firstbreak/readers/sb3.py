"""Stable-Baselines3's `progress.csv` and `progress.json`.

A row is one `logger.dump`: on-policy algorithms write it before the update, so its `train/` numbers are those of the
update before; `EvalCallback` writes rows of its own. Both are dealt with by the vocabulary's `lag_rows`.
"""

from __future__ import annotations

from pathlib import Path

from ..runlog import Recording
from .jsonrows import flatten, parse, read_rows
from .protocol import Options, Reader
from .step_axis import recording_of
from .table import finish, read_columns
from .textfile import head_lines

STEP = "time/total_timesteps"
MARKS = (STEP, "rollout/ep_rew_mean", "train/n_updates", "time/fps")


def sniff(path: Path) -> float:
    """Say how surely `path` is SB3's progress file: its name and its keys."""
    if path.suffix not in (".csv", ".json"):
        return 0.0
    named = path.stem == "progress"
    lines = head_lines(path)
    if not lines:
        return 0.5 if named else 0.0
    keys = set(lines[0].split(",")) if path.suffix == ".csv" else set(parse(lines[0]) or {})
    known = sum(mark in keys for mark in MARKS)
    if known == 0:
        return 0.0
    return 0.95 if named else 0.7


def read(path: Path, options: Options) -> Recording:
    """Read the table, in CSV or in JSON lines."""
    if path.suffix == ".json":
        columns, problems, _ = read_rows(path, options, flatten)
    else:
        columns, problems = read_columns(path, options)
    found = recording_of(columns, path, READER.name, step=STEP, clock="env_steps")
    found.framework = "stable_baselines3"
    return finish(found, problems, path)


READER = Reader("sb3", "Stable-Baselines3 progress file", sniff, read, rank=60)
