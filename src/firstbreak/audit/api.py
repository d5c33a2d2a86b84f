"""`audit`: what the model does, and what it is paid for, from samples of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ..check import Look, look_at_all
from ..inspection import Inspection, inspection
from .collecting import collect
from .episodes import asked
from .episodes.oracle import ask
from .labels.api import with_labels
from .reading.api import read_samples
from .reading.report import ReadReport
from .sample import Sample
from .summary import details_of, notes_of
from .table import Table


def audit(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    framework: str | None = None,
    reference: str | Path | None = None,
    labels: str | Path | None = None,
    oracle: str = "",
    tell: Callable[[Look], None] | None = None,
) -> Inspection:
    """Read samples, measure them and put every check of samples to them.

    Args:
        path: JSON lines, CSV, Parquet, or a rollout dump of a framework; a file or a folder.
        columns: role -> column, where the names are not understood by themselves.
        framework: whose dump it is, when that cannot be told from the file.
        reference: samples of an earlier checkpoint, or of the model that training started from, to compare with.
        labels: what `firstbreak audit label` wrote, a file or a folder; read as human scores.
        oracle: `module:fn` that says of a state, `{"prompt", "calls"}`, whether the task can still be done; it runs in
            a child process and is asked about unsuccessful episodes that were kept.
        tell: hears of each check as it ends.

    Raises:
        InputError: nothing in `path` is a file of samples.
        UnreadableError: it cannot be opened.
        UnknownNameError: a role or framework does not exist.
        MissingExtraError: an optional package is needed.
    """
    start = time.monotonic()
    table, report = read_table(path, columns=columns, framework=framework, labels=labels)
    if reference is not None:
        table = replace(table, reference=read_table(reference, columns=columns, framework=framework)[0])
    seen = audit_table(table, report, tell)
    if oracle:
        seen = with_oracle(seen, table, oracle)
    return replace(seen, details={**seen.details, "seconds": round(time.monotonic() - start, 3)})


def read_table(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    framework: str | None = None,
    labels: str | Path | None = None,
    count: Callable[[int], None] | None = None,
) -> tuple[Table, ReadReport]:
    """Return the measured samples of `path` and what became of its rows; `count` hears how many samples there are."""
    report = ReadReport()
    samples = read_samples(Path(path), columns=columns, framework=framework, report=report)
    if labels is not None:
        samples = with_labels(samples, Path(labels))
    table = collect(samples if count is None else _counted(samples, count), str(path))
    return replace(table, sources=dict(report.formats), unreadable=report.unreadable, unscored=report.unscored), report


def _counted(samples: Iterator[Sample], count: Callable[[int], None]) -> Iterator[Sample]:
    for number, sample in enumerate(samples, 1):
        count(number)
        yield sample


def with_oracle(seen: Inspection, table: Table, oracle: str) -> Inspection:
    """Add what `oracle` says of the unsuccessful episodes of `table` that were kept."""
    kept = {sample.row: sample for sample in (*table.bottom, *table.together, *table.drawn)}
    answers = ask(oracle, [kept[row] for row in sorted(kept)])
    details = {**seen.details, "tables": [*seen.details.get("tables", ()), *asked.table_of(answers)]}
    return replace(seen, details=details, notes=(*seen.notes, *asked.notes_of(answers)))


def audit_table(
    table: Table, report: ReadReport | None = None, tell: Callable[[Look], None] | None = None
) -> Inspection:
    """Put every check of samples to a table that was collected before."""
    read = report if report is not None else ReadReport()
    looks = look_at_all("samples", table, tell)
    return inspection("samples", table.path, looks, details=details_of(table, read), notes=notes_of(table, read))
