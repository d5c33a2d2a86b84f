"""Episodes as Gymnasium monitors of Stable-Baselines3 write them: `monitor.csv`, one file an environment.

The first line is `#{"t_start": ..., "env_id": ...}`, then `r,l,t` and perhaps more columns: the raw return, the length
and the seconds since `t_start` of each finished episode. OpenAI Baselines, whose monitor it was first, puts a space
behind the `#`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..runlog import Recording
from ..series import Curve, Floats
from .jsonrows import parse
from .protocol import Options, Reader
from .step_axis import recording_of
from .table import read_columns
from .textfile import head_lines

PREFIX = "monitor/"
LENGTH = f"{PREFIX}l"
LOCKSTEP = 1.5
"""Environments that were stepped together have taken the same number of steps, within this factor."""


def sniff(path: Path) -> float:
    """Say how surely `path` is a monitor file: a JSON comment, then the columns r, l and t."""
    if path.suffix != ".csv":
        return 0.0
    lines = head_lines(path, 4096)
    if not lines or not lines[0].startswith(("#{", "# {")):
        return 0.0
    return 1.0 if len(lines) < 2 or lines[1].startswith("r,l,t") else 0.3


def read(path: Path, options: Options) -> Recording:
    """Read the episodes of one environment; its steps are counted from its own episodes."""
    columns, problems = read_columns(path, options)
    table = recording_of(columns, path, READER.name, clock="rows")
    lengths = table.curves.get("l")
    if lengths is None:
        raise InputError(f"{path}: no finished episode in it.", "Let the run finish an episode, or leave the file out.")
    lines = head_lines(path, 4096)
    start = (parse(lines[0][1:]) if lines else None) or {}
    steps = np.cumsum(np.nan_to_num(lengths.value))
    wall: Floats | None = None
    times = table.curves.get("t")
    began = start.get("t_start")
    if isinstance(began, (int, float)) and times is not None and len(times) == len(lengths):
        wall = float(began) + times.value
    found = Recording(str(path), READER.name, clock="env_steps", modified=table.modified, problems=problems)
    for key, curve in table.curves.items():
        if key != "t" and len(curve) == len(lengths):
            found.curves[PREFIX + key] = Curve(steps, curve.value, wall)
    if isinstance(start.get("env_id"), str):
        found.config["env_id"] = start["env_id"]
    return found


def combine(parts: Sequence[Recording]) -> Recording:
    """Join the monitors of parallel environments: steps count those of all of them.

    Environments stepped together have each taken an n-th of all steps; others are put in order of time and summed.
    """
    if len(parts) == 1:
        return parts[0]
    own = [part.curves[LENGTH] for part in parts]
    ends = np.array([curve.step[-1] for curve in own])
    walls = [curve.wall for curve in own]
    together = bool(ends.max() <= LOCKSTEP * ends.min()) or any(wall is None for wall in walls)
    scaled = np.concatenate([curve.step for curve in own]) * len(parts)
    order = np.argsort(scaled, kind="stable")
    if not together:
        order = np.argsort(np.concatenate([wall for wall in walls if wall is not None]), kind="stable")
        scaled = np.empty_like(scaled)
        scaled[order] = np.cumsum(np.concatenate([curve.value for curve in own])[order])
    found = Recording(parts[0].path, READER.name, clock="env_steps", framework=parts[0].framework)
    found.modified = max(part.modified for part in parts)
    found.problems = [problem for part in parts for problem in part.problems]
    found.config = {**parts[0].config, "n_envs": len(parts)}
    for key in parts[0].curves:
        if all(key in part.curves for part in parts):
            found.curves[key] = _joined([part.curves[key] for part in parts], scaled, order)
    return found


def _joined(curves: Sequence[Curve], steps: Floats, order: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Curve:
    values = np.concatenate([curve.value for curve in curves])[order]
    walls = [curve.wall for curve in curves if curve.wall is not None]
    wall = np.concatenate(walls)[order] if len(walls) == len(curves) else None
    return Curve(steps[order], values, wall)


READER = Reader(
    "sb3_monitor", "Stable-Baselines3 monitor file", sniff, read, rank=60, combine=lambda parts: [combine(parts)]
)
