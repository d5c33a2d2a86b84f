"""`trainer_state.json` of Hugging Face transformers and TRL: `log_history`, one entry a logging step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from ..errors import InputError
from ..runlog import Problem, Recording
from .columns import Columns
from .jsonrows import Row, flatten, objects_from
from .protocol import Options, Reader
from .step_axis import recording_of
from .textfile import head, modified, unreadable

MAX_BYTES = 1 << 30
SUMMARY = "train_runtime"
"""A key that only the summary at the end of training has."""
RL_MARKS = ("reward", "rewards/", "completions/", "objective/", "frac_reward_zero_std", "kl", "entropy")
SETTINGS = ("max_steps", "num_train_epochs", "train_batch_size", "logging_steps", "save_steps", "eval_steps")


def sniff(path: Path) -> float:
    """Say how surely `path` is the file."""
    if path.suffix != ".json":
        return 0.0
    if path.name == "trainer_state.json":
        return 1.0
    return 0.8 if b'"log_history"' in head(path, 4096) else 0.0


def read(path: Path, options: Options) -> Recording:
    """Read the log history; a file that is cut off gives the entries before the cut."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InputError(f"{path}: {size} bytes is more than a log history holds.", "Is this the right file?")
        text = path.read_text("utf-8-sig", "replace")
    except OSError as error:
        raise unreadable(path, error) from error
    options.progress(size, size)
    problems: list[Problem] = []
    state = _parse(text, path, problems)
    rows = [cast(Row, row) for row in _list(state.get("log_history")) if isinstance(row, dict)]
    columns = Columns()
    ended = ""
    for row in rows:
        if SUMMARY in row:
            ended = "finished"
            continue
        flat = flatten(row)
        columns.add(tuple(flat), list(flat.values()))
    found = recording_of(columns, path, READER.name, step="step", clock="updates")
    if not found.curves:
        raise InputError(f"{path}: its log history is empty.", "Set logging_steps so that metrics are logged.")
    found.problems.extend(problems)
    found.config = {key: state[key] for key in SETTINGS if isinstance(state.get(key), (int, float))}
    found.ended, found.modified = ended, modified(path)
    if any(key.startswith(RL_MARKS) for key in found.curves):
        found.framework = "trl"
    return found


def _list(value: Any) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _parse(text: str, path: Path, problems: list[Problem]) -> dict[str, Any]:
    try:
        state = json.loads(text)
    except RecursionError:
        state = None
    except ValueError as error:
        where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        rows = _salvage(text)
        if not rows:
            raise InputError(f"{path}: not JSON ({error}).", "Use the file of another checkpoint.") from error
        problems.append(
            Problem(str(path), where, f"the file is cut off; {len(rows)} entries before the cut were kept.")
        )
        return {"log_history": rows}
    if not isinstance(state, dict) or "log_history" not in state:
        raise InputError(f"{path}: has no log_history.", "Is this a trainer_state.json of transformers?")
    return cast(dict[str, Any], state)


def _salvage(text: str) -> list[Any]:
    """Return the complete entries of the log history in a `text` that is cut off."""
    start = text.find('"log_history"')
    at = text.find("[", start) + 1 if start >= 0 else 0
    return objects_from(text, at) if at else []


READER = Reader("trainer_state", "transformers trainer state", sniff, read, rank=60)
