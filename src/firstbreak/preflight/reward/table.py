"""Reads rewards from a CSV, TSV, JSON or JSON-lines table of any size, in bounded memory."""

from __future__ import annotations

import csv
import itertools
import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from ...errors import FirstbreakError, InputError, UnreadableError
from .columns import ROLES, SEVERAL, roles_of
from .sample import RewardSample

MOST_ROWS = 400_000
"""Rows kept. Of a longer table, whole episodes, groups or rows are left out evenly: every second one, every fourth."""
LARGEST_JSON_BYTES = 256 << 20
"""A JSON document (one list) is parsed whole, so it may not be larger than this; JSON lines may."""
LOOK_AHEAD = 200
"""Rows of JSON lines whose keys together make the columns."""

WORDS = {
    "true": 1.0, "yes": 1.0, "good": 1.0, "pass": 1.0, "passed": 1.0, "correct": 1.0, "chosen": 1.0, "win": 1.0,
    "success": 1.0, "false": 0.0, "no": 0.0, "bad": 0.0, "fail": 0.0, "failed": 0.0, "incorrect": 0.0, "wrong": 0.0,
    "rejected": 0.0, "loss": 0.0, "failure": 0.0, "": float("nan"), "none": float("nan"), "null": float("nan"),
}  # fmt: skip
"""Words that stand for numbers."""

Row = Mapping[str, Any]


def read_table(
    path: Path,
    *,
    components: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    gamma: float = 0.99,
    better: Mapping[str, str] | None = None,
) -> RewardSample:
    """Read the table at `path`; see `columns.ROLES` for the names of columns that are understood.

    Raises:
        InputError: the file is no table, has no rows, or no column holds the reward.
        UnreadableError: the file cannot be opened.
    """
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            start = file.read(4096)
            if "\0" in start and start.count("\ufffd") > 1:
                raise InputError(f"{path}: not a text file.", "Give a table: CSV, TSV, JSON or JSON lines.")
            file.seek(0)
            rows = _rows(path, file)
            head = list(itertools.islice(rows, LOOK_AHEAD))
            if not head:
                raise InputError(f"{path}: no rows.", "Give a CSV with a header line, or one JSON object per line.")
            names = list(dict.fromkeys(name for row in head for name in row))
            roles = _roles(path, names, components, columns)
            keeper = _Keeper(names, roles, named=bool(components))
            for row in itertools.chain(head, rows):
                keeper.add(row)
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror or error}.", "Is the path right?") from error
    except csv.Error as error:
        raise InputError(f"{path}: not a CSV table ({error}).", "Give a CSV with a header line.") from error
    return keeper.sample(path, gamma, better or {})


def _roles(path: Path, names: list[str], components: Sequence[str], columns: Mapping[str, str] | None) -> Any:
    try:
        return roles_of(names, components, columns)
    except FirstbreakError as error:
        raise type(error)(f"{path}: {error.message}", error.hint) from error


def _rows(path: Path, file: Iterable[str]) -> Iterator[Row]:
    """Yield the rows of `file`, telling the format from its first line that is not blank or a `#` comment."""
    lines = (line.replace("\0", "") for line in file if line.strip() and not line.startswith("#"))
    first = next(lines, None)
    if first is None:
        return
    start = first.lstrip()[0]
    if start == "[":
        yield from _document(path)
    elif start == "{":
        for number, line in enumerate(itertools.chain([first], lines), 1):
            yield _flat(_json(line, f"{path}, line {number}"))
    else:
        kind = "\t" if first.count("\t") > first.count(",") else ";" if first.count(";") > first.count(",") else ","
        for row in csv.DictReader(itertools.chain([first], lines), delimiter=kind, restkey="", restval=""):
            yield {(k or "").strip(): v for k, v in row.items() if k}


def _document(path: Path) -> Iterator[Row]:
    size = path.stat().st_size
    if size > LARGEST_JSON_BYTES:
        raise InputError(f"{path}: a JSON list of {size >> 20} MiB.", "Write one object per line (.jsonl).")
    data = _json(path.read_text(encoding="utf-8-sig", errors="replace"), str(path))
    for row in data:
        yield _flat(row) if isinstance(row, dict) else {"reward": row}


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON ({str(error)[:80]}).", "Is the file complete?") from error


def _flat(row: Any) -> Row:
    """Return `row` with objects of one level taken apart: {"components": {"a": 1}} becomes {"components/a": 1}."""
    if not isinstance(row, dict):
        return {"reward": row}
    flat: dict[str, Any] = {}
    for key, value in cast("dict[str, Any]", row).items():
        if isinstance(value, dict):
            flat.update({f"{key}/{k}": v for k, v in cast("dict[str, Any]", value).items()})
        else:
            flat[key] = value
    return flat


def number_of(value: Any) -> float | None:
    """Return a cell as a number: NaN when it is empty, None when it is text."""
    if value is None:
        return float("nan")
    if isinstance(value, (bool, int, float)):
        try:
            return float(value)
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        return float(text)
    except ValueError:
        return WORDS.get(text.lower())


class _Keeper:
    """Collects the columns; when there are too many rows, keeps every second unit, then every fourth."""

    def __init__(self, names: Sequence[str], roles: Mapping[str, str], *, named: bool) -> None:
        self.roles, self.named = roles, named
        by_role = {role: name for name, role in roles.items()}
        self.labels = {role: dict[str, int]() for role in ("episode", "group") if role in by_role}
        self.by_role = by_role
        self.values = {name: array("d") for name in names if roles.get(name) not in ("episode", "group")}
        self.texts: dict[str, str] = {}
        self.units = array("q")
        self.codes = {role: array("q") for role in self.labels}
        self.seen = 0
        self.stride = 1

    def add(self, row: Row) -> None:
        """Take in one row."""
        codes = dict[str, int]()
        for role, known in self.labels.items():
            codes[role] = known.setdefault(str(row.get(self.by_role[role])), len(known))
        unit = next(iter(codes.values()), self.seen)
        self.seen += 1
        if unit % self.stride:
            return
        self.units.append(unit)
        for role, code in codes.items():
            self.codes[role].append(code)
        for name, column in self.values.items():
            number = number_of(row.get(name))
            if number is None and name not in self.texts:
                self.texts[name] = str(row.get(name))[:40]
            column.append(float("nan") if number is None else number)
        if len(self.units) > MOST_ROWS:
            self._thin()

    def _thin(self) -> None:
        self.stride *= 2
        kept = np.frombuffer(self.units, dtype=np.int64) % self.stride == 0
        for columns in (self.values, self.codes):
            for name, column in columns.items():
                columns[name] = cast("Any", array(column.typecode, np.array(column)[kept].tobytes()))
        self.units = array("q", np.array(self.units)[kept].tobytes())

    def sample(self, path: Path, gamma: float, better: Mapping[str, str]) -> RewardSample:
        """Return what was collected, rows of one episode together and in order."""
        order = np.argsort(np.array(self.codes["episode"]), kind="stable") if "episode" in self.codes else slice(None)
        columns = {name: np.array(column)[order] for name, column in self.values.items()}
        parts = self._of("component", columns)
        notes = [f"kept 1 of {self.stride} episodes, groups or rows of {self.seen} rows"] * (self.stride > 1)
        reward = self.by_role.get("reward")
        if reward is None:
            with np.errstate(all="ignore"):
                rewards = np.sum(list(parts.values()), axis=0)
            notes.append(f"no reward column: the reward is the sum of {', '.join(parts)}")
        else:
            self._refuse_text(reward, path)
            rewards = columns[reward]
        if not parts:
            parts = self._adding_up(columns, rewards)
        inside = "step" in self.by_role and "episode" not in self.codes
        update = self.by_role.get("update") or (self.by_role["step"] if inside else None)
        return RewardSample(
            rewards,
            episode=np.array(self.codes["episode"])[order] if "episode" in self.codes else None,
            group=np.array(self.codes["group"])[order] if "group" in self.codes else None,
            reference=self._of("reference", columns),
            metric=self._of("metric", columns),
            components=parts,
            components_named=self.named,
            better=better,
            length=self._one("length", columns),
            update=None if update is None else columns[update],
            terminated=self._flags("terminated", columns),
            truncated=self._flags("truncated", columns),
            gamma=gamma,
            source="table",
            notes=tuple(notes),
        )

    def _refuse_text(self, name: str, path: Path) -> None:
        if name in self.texts:
            raise InputError(
                f"{path}: column {name!r} holds text ({self.texts[name]!r}), not numbers.",
                f"Say which column is the reward; names understood are {', '.join(ROLES['reward'][:6])}.",
            )

    def _of(self, role: str, columns: Mapping[str, Any]) -> dict[str, Any]:
        return {n: columns[n] for n, r in self.roles.items() if r == role and n in columns and n not in self.texts}

    def _one(self, role: str, columns: Mapping[str, Any]) -> Any:
        name = self.by_role.get(role)
        return None if name is None or name in self.texts or role in SEVERAL else columns.get(name)

    def _flags(self, role: str, columns: Mapping[str, Any]) -> Any:
        column = self._one(role, columns)
        return None if column is None else np.nan_to_num(column) != 0

    def _adding_up(self, columns: Mapping[str, Any], rewards: Any) -> dict[str, Any]:
        """Nameless numeric columns are components when they add up to the reward in nine rows of ten."""
        free = {n: c for n, c in columns.items() if n not in self.roles and n not in self.texts}
        if len(free) < 2:
            return {}
        known = np.isfinite(rewards)
        if not known.any():
            return {}
        with np.errstate(all="ignore"):
            gap = np.abs(np.asarray(sum(free.values()), dtype=np.float64) - rewards)
            scale = max(float(rewards[known].std()), 1e-12)
        return free if float(np.count_nonzero(gap <= 1e-4 * scale)) >= 0.9 * len(gap) else {}
