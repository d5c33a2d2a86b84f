"""TRL's `completions/completions_<step>.parquet`: a column for every reward function, and the advantage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...sample import Sample
from ..parquet_rows import columns_of, numbers_in, rows_of
from ..protocol import Dump, Source
from ..roles import NAMES
from ..rows import Row, samples
from ..trl_weights import paid, weights
from ..values import number, text

_NAME = re.compile(r"completions_(\d{1,9})\.parquet")
_OWN = ("step", "prompt", "completion", "advantage")
_ROLE_NAMES = frozenset(name for names in NAMES.values() for name in names)
"""A reward function called `success` or `length` is still a reward function."""

STEPS_ASKED = 16
"""Steps that are asked for the weights together: in one of them a function may never have paid. Engineering default."""


def _sniff(path: Path, head: bytes) -> float:
    if not head.startswith(b"PAR1"):
        return 0.0
    if _NAME.match(path.name):
        return 0.95
    columns = columns_of(path)
    return 0.8 if columns is not None and set(_OWN) <= set(columns) else 0.0


def _read(source: Source) -> Iterator[Sample]:
    """Yield the samples of one step. Its numbers are read first: only all of them show which rewards were paid."""
    columns = [name for name in numbers_in(source.path) if name not in _OWN]
    weighed = _weighed(source, columns)
    names = {name: f"reward/{name}" if name.lower() in _ROLE_NAMES else name for name in columns}

    def shape(row: Row) -> Row:
        shaped: Row = {name: row.get(name) for name in _OWN}
        shaped["reward"] = paid(row, weighed) if weighed is not None else None
        for column, name in names.items():
            shaped[name] = number(row.get(column))
        return {**shaped, **_extras(row, columns)}

    return samples(source, rows_of(source), shape)


def _weighed(source: Source, columns: list[str]) -> dict[str, float] | None:
    """Return the weights of the reward functions: those that explain many steps, else those that explain this one."""
    key = ("trl", source.path.parent, tuple(columns))
    if key not in source.shared:
        source.shared[key] = _told(source, columns, _some_steps(source.path, columns))
    found = source.shared[key] or _told(source, columns, [source.path])
    if found is None and columns:
        source.report.note(
            "In some steps the advantages do not tell how TRL weighed its reward functions; there the reward is not "
            "known, and each function stands among the scores."
        )
    elif found is not None and len(columns) > 1:
        said = ", ".join(f"{weight:g}" for weight in found.values())
        source.report.note(f"Weights of TRL's {len(columns)} reward functions, from the advantages: {said}.")
        _unpaid(source, [name for name, weight in found.items() if weight == 0])
    return found


def _unpaid(source: Source, names: list[str]) -> None:
    """Note the functions that are logged and not paid: one of them may be the judge that the audit lacks."""
    if names and not {"human", "success"} & source.columns.keys():
        said = ", ".join(name[:40] for name in names[:3])
        source.report.note(
            f"Not paid for (weight 0): {said}. If it says whether the task was done, audit again with "
            f"--column human={names[0][:40]}: then the audit can tell what is wanted from what is paid."
        )


def _some_steps(path: Path, columns: list[str]) -> list[Path]:
    """Return the file and some others of the run, over all of its length."""
    beside = sorted(path.parent.glob("completions_*.parquet"))
    some = beside[:: max(1, len(beside) // STEPS_ASKED)][:STEPS_ASKED]
    return [p for p in {path: None, **dict.fromkeys(some)} if [n for n in numbers_in(p) if n not in _OWN] == columns]


def _told(source: Source, columns: list[str], steps: list[Path]) -> dict[str, float] | None:
    """Return the weights that the advantages of some steps tell."""
    rows: list[Row] = []
    keys: list[int] = []
    for step in steps:
        held = [row for _, row in rows_of(replace(source, path=step), ["prompt", "advantage", *columns])]
        rows += held
        keys += [hash((step, text(row.get("prompt")))) for row in held]
    rewards = np.array([[number(row[name]) for name in columns] for row in rows]).reshape(len(rows), len(columns))
    return weights(rewards, np.array([number(row.get("advantage")) for row in rows]), keys, columns)


def _extras(row: Row, columns: list[str]) -> Row:
    """Return what the user's reward functions logged beside the rewards."""
    return {name: text(cell) if isinstance(cell, (list, dict)) else cell for name, cell in row.items()
            if name not in _OWN and name not in columns}  # fmt: skip


DUMP = Dump("trl", "TRL completions", _sniff, _read, framework="trl")
