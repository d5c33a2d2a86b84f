"""Reads scores per item or per episode from JSON lines, CSV or Parquet, and saved score documents."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ...errors import InputError, UnreadableError, unknown_name
from ...preflight.data.reading import Rows
from ..protocol.protocol import Protocol, from_canonical

SCORES = ("score", "correct", "passed", "success", "is_correct", "accuracy", "acc", "return", "episode_return",
          "episode_reward", "total_reward", "reward", "resolved", "solved")  # fmt: skip
ITEMS = ("item", "item_id", "id", "prompt_id", "question_id", "problem_id", "task_id", "example_id", "instance_id",
         "idx", "index", "episode", "env_seed", "level", "eval_seed", "seed")  # fmt: skip
RUNS = ("run", "run_id", "training_seed", "train_seed", "model_seed", "checkpoint")
ROLES: dict[str, tuple[str, ...]] = {"score": SCORES, "item": ITEMS, "run": RUNS}
"""Role -> usual names of its column. A run is one training, told apart by its seed."""
DOCUMENT = "firstbreak_scores"
"""The key that marks a saved score document."""


@dataclass(frozen=True)
class Score:
    """One line: what was measured, by which run, how well."""

    item: str
    run: str
    value: float


@dataclass(frozen=True)
class Scores:
    """All scores of one result."""

    name: str
    rows: tuple[Score, ...]
    columns: Mapping[str, str]
    """Role -> the column that played it; roles without one are missing."""
    protocol: Protocol | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def runs(self) -> list[str]:
        """The runs in the order of the file."""
        return list(dict.fromkeys(row.run for row in self.rows))

    def items_of(self, run: str | None = None) -> dict[str, list[float]]:
        """Return item -> its scores (several where it was sampled several times), of one run or of all."""
        found: dict[str, list[float]] = {}
        for row in self.rows:
            if run is None or row.run == run:
                found.setdefault(row.item, []).append(row.value)
        return found


def read_scores(
    paths: Sequence[Path], *, columns: Mapping[str, str] | None = None, protocol: Protocol | None = None
) -> Scores:
    """Read one result from one or more files; where no column names the run, each file is one.

    Args:
        paths: Files of one result.
        columns: Role (score, item, run) -> column, where names are not understood.
        protocol: What the scores were measured under; a saved document brings its own.

    Raises:
        InputError: a file has no scores, or some are no numbers.
        UnreadableError: a file cannot be read.
    """
    for role in columns or {}:
        if role not in ROLES:
            raise unknown_name("role of a column", role, ROLES)
    parts = [_document(path) or _table(path, columns or {}, protocol) for path in paths]
    if len(parts) == 1:
        return parts[0]
    hashes = {p.protocol.hash if p.protocol else "" for p in parts}
    if len(hashes) > 1:
        raise InputError(
            "The files of one result were measured under different protocols.", "Compare them instead of joining them."
        )
    named = all("run" in p.columns for p in parts)
    rows = tuple(
        row if named else Score(row.item, f"{path.name}#{index}" + (f"/{row.run}" if row.run else ""), row.value)
        for index, (part, path) in enumerate(zip(parts, paths, strict=True), 1)
        for row in part.rows
    )
    notes = tuple(dict.fromkeys(note for p in parts for note in p.notes))
    return Scores(f"{parts[0].name} and {len(parts) - 1} more", rows, parts[0].columns, parts[0].protocol, notes)


def _table(path: Path, columns: Mapping[str, str], protocol: Protocol | None) -> Scores:
    source = Rows(path)
    rows: list[Score] = []
    roles: dict[str, str] = {}
    for number, row in source:
        roles = roles or _roles(row, columns, path)
        where = f"{path} row {number}"
        if roles["score"] not in row:
            raise InputError(
                f"{where}: no {roles['score']!r}.", "Every row needs a score; an item that failed has one."
            )
        item = str(row.get(roles["item"], "")) if "item" in roles else str(number)
        rows.append(Score(item, str(row.get(roles.get("run", ""), "")), number_of(row[roles["score"]], where)))
    if source.unreadable_rows:
        raise InputError(
            f"{path}: {source.unreadable_rows} rows cannot be read, first row {source.unreadable[0]}.",
            "A score over the rows that happen to be readable would be of another set of items.",
        )
    if not rows:
        raise InputError(f"{path}: no scores.", "One JSON object a line: an item, a score, and the run if several.")
    notes = () if "item" in roles else ("no column names the items: rows are taken in their order",)
    return Scores(path.name, tuple(rows), roles, protocol, notes)


def _roles(row: Mapping[str, Any], columns: Mapping[str, str], path: Path) -> dict[str, str]:
    there = {str(name).lower(): str(name) for name in row}
    roles: dict[str, str] = {}
    for role, column in columns.items():
        if column.lower() not in there:
            raise unknown_name(f"column in {path}", column, there.values())
        roles[role] = there[column.lower()]
    for role, usual in ROLES.items():
        name = next((there[u] for u in usual if u in there and there[u] not in roles.values()), None)
        if role not in roles and name is not None:
            roles[role] = name
    if "score" not in roles:
        shown = ", ".join(repr(name[:40]) for name in list(there.values())[:12])
        raise InputError(
            f"{path}: no column holds scores under a known name; there are {shown}.", "Say which: --column score=NAME"
        )
    return roles


def number_of(value: Any, where: str) -> float:
    """Return a score as a number; true and false are 1 and 0.

    Raises:
        InputError: it is none, or NaN or infinite.
    """
    words = {"true": 1.0, "false": 0.0, "pass": 1.0, "fail": 0.0, "passed": 1.0, "failed": 0.0}
    try:
        found = words[value.lower()] if isinstance(value, str) and value.lower() in words else float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: the score {str(value)[:40]!r} is no number.", "Write 0 for what failed.") from error
    if not math.isfinite(found):
        raise InputError(
            f"{where}: the score is {found:g}.", "An item that failed has the worst score; leaving it out flatters."
        )
    return found


def _document(path: Path) -> Scores | None:
    """Return a saved score document, None when the file is something else."""
    try:
        if path.suffix.lower() != ".json" or path.stat().st_size > 256 << 20:
            return None
        found = json.loads(path.read_text("utf-8-sig", errors="replace"))
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be read ({error.strerror}).", "Give a file of scores.") from error
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or DOCUMENT not in found:
        return None
    kept = cast("dict[str, Any]", found)
    try:
        rows = tuple(Score(str(i), str(r), number_of(v, str(path))) for i, r, v in kept["rows"])
        protocol = from_canonical(kept["protocol"]) if kept.get("protocol") else None
        return Scores(str(kept["name"]), rows, dict(kept["columns"]), protocol, tuple(kept["notes"]))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: a damaged score document.", "Save it again: firstbreak eval score --save") from error


def document(scores: Scores) -> dict[str, Any]:
    """Return what `read_scores` reads back: the scores with the protocol they were measured under."""
    return {
        DOCUMENT: 1,
        "name": scores.name,
        "protocol_hash": scores.protocol.hash if scores.protocol else None,
        "protocol": scores.protocol.canonical if scores.protocol else None,
        "columns": dict(scores.columns),
        "notes": list(scores.notes),
        "rows": [[row.item, row.run, row.value] for row in scores.rows],
    }
