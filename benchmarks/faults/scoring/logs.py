"""From a recorded run to what a user would have: the log file that the framework writes, read by firstbreak's readers.

Nothing is short-circuited: the keys are the framework's own and go through format detection, ingestion and vocabulary.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from firstbreak.api import load_runs
from firstbreak.monitor.death import died_of
from firstbreak.runlog import CRASHED, Event, RunLog

from .corpus import Run

SB3, TRL = ("sb3", "stable_baselines3"), ("trl",)
STEP = {"env_steps": "env_steps", "updates": "updates"}
"""Step column of a hand-written loop, by what it counts."""


def rows(run: Run) -> list[tuple[float, dict[str, float]]]:
    """Return the rows of a log in order of their step; a key that comes twice at one step opens a second row."""
    found: dict[float, dict[str, float]] = {}
    again: dict[tuple[float, int], dict[str, float]] = {}
    for key, (steps, values) in run.keys.items():
        if len(set(steps)) < len(steps):
            _put_repeats(key, steps, values, found, again)
            continue
        for step, value in zip(steps, values, strict=True):
            row = found.get(step)
            if row is None:
                row = found[step] = {}
            row[key] = value
    whole = [((step, 0), row) for step, row in found.items()] + list(again.items())
    return [(step, row) for (step, _), row in sorted(whole, key=lambda item: item[0])]


def _put_repeats(
    key: str,
    steps: Sequence[float],
    values: Sequence[float],
    found: dict[float, dict[str, float]],
    again: dict[tuple[float, int], dict[str, float]],
) -> None:
    """Put the values of a key that comes several times at one step into the first row of that step and further ones."""
    times: dict[float, int] = {}
    for step, value in zip(steps, values, strict=True):
        place = times.get(step, 0)
        times[step] = place + 1
        row = again.setdefault((step, place), {}) if place else found.setdefault(step, {})
        row[key] = value


def write_log(run: Run, folder: Path) -> Path:
    """Write the log of `run` into `folder` as its framework would, and its settings beside it. Returns the log."""
    config = dict(run.config)
    if run.framework in SB3 and not run.canonical:
        file = folder / "progress.json"
        text = _lines(run, "time/total_timesteps")
    elif run.framework in TRL:
        file = folder / "trainer_state.json"
        history = [{"step": step, **row} for step, row in rows(run)]
        text = json.dumps({"log_history": history, "global_step": run.end_step})
    else:
        file = folder / "metrics.jsonl"
        config = {"algorithm": run.algorithm, **config}
        text = _lines(run, STEP[run.clock])
    file.write_text(text, "utf-8")
    if config:
        (folder / "config.json").write_text(json.dumps(config, default=str), "utf-8")
    return file


def _lines(run: Run, step_key: str) -> str:
    return "".join(json.dumps({step_key: step, **row}) + "\n" for step, row in rows(run))


def load_log(run: Run, names: Mapping[str, str] | None = None) -> RunLog:
    """Return what firstbreak makes of the log of `run`; `names` is a user's own mapping of keys.

    A training that died is told as a tracker tells it: the state, and the type of the exception.
    """
    log = replace(
        _read(run, names) if run.keys else RunLog("", config=run.config, algorithm=run.algorithm), path=run.id
    )
    if not run.died:
        return log
    kind, _, message = run.died.partition(": ")
    event = Event(CRASHED, log.last_step, died_of(kind, message))
    return replace(log, state="crashed", events=(*log.events, event))


def _read(run: Run, names: Mapping[str, str] | None) -> RunLog:
    with tempfile.TemporaryDirectory(prefix="faults-") as place:
        folder = Path(place)
        write_log(run, folder)
        return max(load_runs(folder, map=names), key=lambda found: sum(map(len, found.series)))


def keys_of(log: RunLog) -> dict[str, set[str]]:
    """Return for each canonical metric the keys of the source that it was read from."""
    found: dict[str, set[str]] = {}
    for series in log.series:
        found.setdefault(series.metric, set()).add(series.source_key)
    return found
