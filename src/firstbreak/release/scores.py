"""Tables of scores beside the logs: checkpoints evaluated again on fresh seeds, on the private set, before training.

Columns: `split` (fresh, private or a name of yours), `checkpoint` (best, last, baseline), `seed` or `run`, `score`, and
`protocol`. A file `scores.csv` in the folder of a run is read by itself.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from ..errors import InputError, UnreadableError
from .evidence import UNKNOWN, Run, Score

NAMES = ("scores.csv", "scores.json", "scores.jsonl")
MOST_BYTES = 64 << 20
SYNONYMS = {"set": "split", "which": "checkpoint", "value": "score", "protocol_hash": "protocol"}


def gather_scores(runs: Sequence[Run], extra: Iterable[str | Path] = ()) -> tuple[Score, ...]:
    """Return every score beside the runs and in the files `extra`.

    Raises:
        InputError: a table lacks a column or holds no number where one must be; UnreadableError: it cannot be read.
    """
    found: list[Score] = []
    for run in runs:
        place = Path(run.path.partition("#")[0])
        folder = place if place.is_dir() else place.parent
        for name in NAMES:
            if (folder / name).is_file():
                found += read_scores(folder / name, run.name)
    seeds = [run.seed for run in runs]  # of several tasks, a seed alone does not say whose
    by_seed = {run.seed: run.name for run in runs if run.seed and seeds.count(run.seed) == 1}
    for path in extra:
        rows = read_scores(Path(path), "")
        found += [s if s.run not in by_seed else _of(s, by_seed[s.run]) for s in rows]
    return tuple(found)


def _of(score: Score, run: str) -> Score:
    return Score(score.split, score.checkpoint, run, score.score, score.protocol, score.source)


def read_scores(path: Path, run: str) -> list[Score]:
    """Return the rows of one table; `run` is theirs when the file belongs to one.

    Raises:
        InputError: a column is missing, or a score is no finite number; UnreadableError: it cannot be read.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path}: larger than {MOST_BYTES >> 20} MiB.", "Give one row a checkpoint and seed.")
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise UnreadableError(
            f"{path}: {error.strerror}.", "Give a table of scores: CSV, JSON or JSON lines."
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file.", "Give a table of scores: CSV, JSON or JSON lines.") from error
    return [_score(path, number, row, run) for number, row in enumerate(_rows(path, text), 1)]


def _rows(path: Path, text: str) -> list[Mapping[str, Any]]:
    try:
        if path.suffix == ".csv":
            return [dict(row) for row in csv.DictReader(io.StringIO(text))]
        if path.suffix == ".jsonl":
            data: Any = [json.loads(line) for line in text.splitlines() if line.strip()]
        else:
            data = json.loads(text)
            if isinstance(data, dict):  # {"protocol": ..., "scores": [...]}
                table = cast("dict[str, Any]", data)
                rows = cast("list[Any]", table.get("scores") or [])
                data = [{"protocol": table.get("protocol", ""), **row} for row in rows]
    except (ValueError, RecursionError, TypeError, csv.Error) as error:
        raise InputError(f"{path}: not a table ({error}).", "Give CSV, JSON or JSON lines.") from error
    if not isinstance(data, list) or not all(isinstance(row, dict) for row in cast("list[Any]", data)):
        raise InputError(f"{path}: not a list of rows.", "One row a score: split, checkpoint, seed, score, protocol.")
    return cast("list[Mapping[str, Any]]", data)


def _score(path: Path, number: int, row: Mapping[str, Any], run: str) -> Score:
    cells = {SYNONYMS.get(k := str(key).strip().lower(), k): value for key, value in row.items()}
    where = f"{path}, row {number}"
    missing = [name for name in ("split", "checkpoint", "score") if cells.get(name) in (None, "")]
    if missing:
        raise InputError(f"{where}: no {missing[0]}.", "Columns: split, checkpoint, seed, score, protocol.")
    try:
        value = float(cells["score"])
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: {cells['score']!r} is no score.", "Give a number.") from error
    if not math.isfinite(value):
        raise InputError(f"{where}: the score is {value}.", "A run that died has a score too: its last, or the worst.")
    whose = run or str(cells.get("run") or cells.get("seed") or f"row {number}")
    return Score(
        _split(str(cells["split"])), str(cells["checkpoint"]).strip().lower(), whose, value,
        str(cells.get("protocol") or "").strip(), str(path),
    )  # fmt: skip


def _split(name: str) -> str:
    """Return the name of a split; `private_test` of a ledger is the private set."""
    plain = name.strip().lower()
    return "private" if plain in ("private_test", "private-test", "private test") else plain


def by_run(scores: Iterable[Score], split: str, checkpoint: str) -> dict[str, float]:
    """Return the mean score of each run on one split with one checkpoint."""
    sums: dict[str, list[float]] = {}
    for one in scores:
        if one.split == split and one.checkpoint == checkpoint:
            sums.setdefault(one.run, []).append(one.score)
    return {run: sum(values) / len(values) for run, values in sums.items()}


def protocols_by_run(scores: Iterable[Score], split: str, checkpoint: str) -> dict[str, set[str]]:
    """Return the protocols that each run's scores on one split with one checkpoint state, `UNKNOWN` for none."""
    found: dict[str, set[str]] = {}
    for one in scores:
        if one.split == split and one.checkpoint == checkpoint:
            found.setdefault(one.run, set()).add(one.protocol or UNKNOWN)
    return found
