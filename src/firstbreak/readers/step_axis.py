"""Which column of a table is its step, which its wall time, and how a table of numbers becomes a recording."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ..runlog import Problem, Recording
from ..series import Curve, Floats
from .columns import Columns
from .textfile import modified

STEP_NAMES: dict[str, str] = {
    "step": "",
    "global_step": "",
    "trainer/global_step": "",
    "train/global_step": "",
    "training/global_step": "",
    "time/total_timesteps": "env_steps",
    "total_timesteps": "env_steps",
    "timesteps_total": "env_steps",
    "num_env_steps_sampled_lifetime": "env_steps",
    "timesteps": "env_steps",
    "timestep": "env_steps",
    "num_env_steps": "env_steps",
    "env_steps": "env_steps",
    "env_step": "env_steps",
    "environment_steps": "env_steps",
    "num_timesteps": "env_steps",
    "env_interactions": "env_steps",
    "total_env_steps": "env_steps",
    "total_envstep_count": "env_steps",
    "total_numsteps": "env_steps",
    "total_t": "env_steps",
    "frames": "env_steps",
    "frame": "env_steps",
    "num_frames": "env_steps",
    "totalenvinteracts": "env_steps",
    "timestepssofar": "env_steps",
    "current_steps": "updates",
    "total_steps": "",
    "steps": "",
    "num_steps": "",
    "training_iteration": "updates",
    "iteration": "updates",
    "iterations": "updates",
    "iter": "updates",
    "iters": "updates",
    "itr": "updates",
    "it": "updates",
    "time/iterations": "updates",
    "update": "updates",
    "updates": "updates",
    "n_updates": "updates",
    "episode": "rows",
    "episodes": "rows",
    "episode_num": "rows",
    "episode_number": "rows",
    "i_episode": "rows",
    "ep": "rows",
    "epoch": "rows",
}
"""Names of step columns, the most telling first, and what they count; `""` where the framework decides."""
BARE_NAMES = frozenset({"step", "global_step", "trainer/global_step", "train/global_step", "training/global_step"})
"""Step columns that are an axis and nothing else; the others are metrics too."""
WALL_NAMES = ("timestamp", "wall_time", "walltime", "time", "datetime", "created_at", "date")
EPOCH_SECONDS = 1e8, 1e11
"""Seconds since the epoch lie between these (1973 to 5138); larger numbers are milliseconds or nanoseconds."""
MAX_RESETS = 0.02
"""Share of rows at which a step column may go back (resumes) before it is taken for a counter within an epoch."""


def plain(name: str) -> str:
    """Return the spelling of a column `name` under which step names are known."""
    return name.strip().lower().lstrip("_").replace(" ", "_").replace("-", "_")


def names_step(key: str) -> bool:
    """Whether a column may be a step by its name, whatever the name is filed under (`misc/total_timesteps`)."""
    return plain(key) in STEP_NAMES or _scoped(key) in STEP_NAMES


def _scoped(key: str) -> str:
    """Return what stands behind the scope of `key` if it counts steps of the environment, else nothing.

    A shorter name in a scope is a metric: `time/step` is a duration, `eval/episode` a count.
    """
    name = plain(key.rpartition("/")[2])
    return name if "/" in key and "_" in name and STEP_NAMES.get(name) == "env_steps" else ""


def step_key(columns: Columns, keys: Iterable[str]) -> tuple[str, str]:
    """Return the key of the step column and what it counts; `("", "rows")` where there is none."""
    direct: dict[str, str] = {}
    scoped: dict[str, str] = {}
    for key in keys:
        direct.setdefault(plain(key), key)
        scoped.setdefault(_scoped(key), key)
    for spelled in (direct, scoped):
        for name, clock in STEP_NAMES.items():
            if name in spelled:
                values = columns.column(spelled[name])[1]
                if _advances(values) or (name in BARE_NAMES and _distinct(values)):
                    return spelled[name], clock
    return "", "rows"


def _advances(values: Floats) -> bool:
    finite = values[np.isfinite(values)]
    if finite.size < 2:
        return bool(finite.size)
    moves = np.diff(finite)
    back = int(np.count_nonzero(moves < 0))
    return bool(np.any(moves > 0)) and back <= max(3.0, MAX_RESETS * finite.size)


def _distinct(values: Floats) -> bool:
    """Whether no step comes twice: an axis whose rows were written newest first or in no order."""
    finite = values[np.isfinite(values)]
    return finite.size > 1 and np.unique(finite).size == finite.size


def wall_key(columns: Columns, keys: Iterable[str]) -> str:
    """Return the key of the column that holds seconds since the epoch, `""` where there is none."""
    spelled = {plain(key): key for key in keys}
    for name in WALL_NAMES:
        if name in spelled:
            values = columns.column(spelled[name])[1]
            if values.size and bool(np.all(values > EPOCH_SECONDS[0])):
                return spelled[name]
    return ""


def seconds(values: Floats) -> Floats:
    """Return times [n] in seconds, whether they were in seconds, milli-, micro- or nanoseconds."""
    scaled = values
    while scaled.size and float(np.nanmedian(scaled)) > EPOCH_SECONDS[1]:
        scaled = scaled / 1000.0
    return scaled


def recording_of(
    columns: Columns,
    path: Path,
    reader: str,
    *,
    step: str = "",
    clock: str = "",
) -> Recording:
    """Build the recording of a table. `step` names its step column where the format fixes it, else it is looked for."""
    columns.flush()
    keys = columns.keys
    if step not in keys:
        step, clock = step_key(columns, keys)
    wall = wall_key(columns, keys)
    positions = columns.filled(step) if step else np.arange(columns.rows, dtype=np.float64)
    times = seconds(columns.filled(wall)) if wall else None
    found = Recording(str(path), reader, clock=clock, modified=modified(path))
    for key in keys:
        if key == wall or (key == step and plain(key) in BARE_NAMES):
            continue
        rows, values = columns.column(key)
        curve = Curve(positions[rows], values, None if times is None else times[rows])
        found.curves[key] = curve
    found.texts = {key: text for key, text in columns.texts.items() if key not in found.curves}
    if columns.thinned > 1:
        what = f"the file is very large: of the longest columns one point in {columns.thinned} was kept."
        found.problems.append(Problem(str(path), "", what, "Cut the file to look at a part of it closely."))
    return found
