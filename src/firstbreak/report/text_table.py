"""Many runs in the terminal: one line a run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ..diagnosis import Diagnosis, Verdict
from .clean import plain
from .page import Page
from .words import WORST_FIRST, count, number, short_path, worst_first

HEAD = ("run", "link", "onset", "cause")
INDENT, GAP = 2, "  "


def table(page: Page, diagnoses: Sequence[Diagnosis]) -> None:
    """Add a table of runs under their verdicts, broken ones first, and how to see one of them."""
    tally = {v: sum(d.verdict is v for d in diagnoses) for v in WORST_FIRST}
    page.line(f"{count(len(diagnoses), 'run')}: " + ", ".join(f"{n} {verdict}" for verdict, n in tally.items() if n))
    rows = [(name, *_cells(diagnosis)) for name, diagnosis in zip(_names(diagnoses), diagnoses, strict=True)]
    widths = _widths((HEAD, *rows), page.width)
    page.line(_row(HEAD, widths), style="dim")
    for verdict in WORST_FIRST:
        if tally[verdict]:
            page.line(verdict.value, style="bold")
        for row, diagnosis in zip(rows, diagnoses, strict=True):
            if diagnosis.verdict is verdict:
                page.line(_row(row, widths))
    worst = plain(_place(worst_first(diagnoses)[0], diagnoses), 200)
    page.line(f"See one: firstbreak diagnose {shlex.quote(worst)}")
    page.line("See all: add --full, or --html report.html")


def _place(one: Diagnosis, diagnoses: Sequence[Diagnosis]) -> str:
    """Return the path that leads to `one` alone: a file of it where its folder holds other runs too."""
    path, read = one.log.path, one.log.provenance.read
    shared = any(d.log.path.startswith(f"{path.rstrip('/')}/") for d in diagnoses)
    return read[0] if shared and read else path


def _names(diagnoses: Sequence[Diagnosis]) -> list[str]:
    """Return the last part of each run's path where that tells the runs apart, else the last two."""
    paths = [short_path(d.log.path) for d in diagnoses]
    last = [path.rsplit("/", 1)[-1] for path in paths]
    return last if len(set(last)) == len(last) else paths


def _cells(diagnosis: Diagnosis) -> tuple[str, ...]:
    first = diagnosis.first_break
    cause = diagnosis.causes[0] if diagnosis.causes and diagnosis.verdict is not Verdict.HEALTHY else None
    return (
        first.link.value if first else "-",
        number(first.onset.lo) if first else "-",
        ("?" if cause.rivals else "") + cause.name if cause else "-",
    )


def _widths(rows: Sequence[Sequence[str]], total: int) -> tuple[int, ...]:
    """Return the widths of the columns: what they need, or else less for names and causes, which share what is left."""
    from rich.cells import cell_len

    run, *fixed, cause = (max(cell_len(row[column]) for row in rows) for column in range(len(HEAD)))
    left = max(total - INDENT - sum(fixed) - len(GAP) * (len(HEAD) - 1), 20)
    most = max(left - cause, left // 2)
    run = min(run, most)
    return (run, *fixed, min(cause, left - run))


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    fitted = [
        _fitted(cell, width, keep_end=not column)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return (" " * INDENT + GAP.join(fitted)).rstrip()


def _fitted(cell: str, width: int, *, keep_end: bool) -> str:
    """Return `cell` in `width` columns. Runs of one folder differ at the end of their names, so that is kept."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(cell) <= width:
        return set_cell_size(cell, width)
    if not keep_end:
        return set_cell_size(cell, width - 1) + "…"
    while cell_len(cell) > width - 1:
        cell = cell[1:]
    return set_cell_size("…" + cell, width)
