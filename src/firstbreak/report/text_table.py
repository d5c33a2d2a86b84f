"""Many runs in the terminal: one line a run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ..diagnosis import Diagnosis, Verdict
from .clean import plain
from .page import Page
from .words import count, number, short_path

WORST_FIRST = {Verdict.BROKEN: 0, Verdict.UNDECIDED: 1, Verdict.HEALTHY: 2}


def table(page: Page, diagnoses: Sequence[Diagnosis]) -> None:
    """Add a table of runs, broken ones first, and how to see one of them."""
    tally = {v: sum(d.verdict is v for d in diagnoses) for v in Verdict}
    page.line(f"{count(len(diagnoses), 'run')}: " + ", ".join(f"{n} {verdict}" for verdict, n in tally.items() if n))
    widths = _widths(page.width)
    page.line(_row(("run", "verdict", "link", "onset", "cause"), widths), style="dim")
    names = _names(diagnoses)
    for name, diagnosis in sorted(zip(names, diagnoses, strict=True), key=lambda item: WORST_FIRST[item[1].verdict]):
        page.line(_row((name, *_cells(diagnosis)), widths))
    worst = min(diagnoses, key=lambda d: WORST_FIRST[d.verdict])
    page.line(f"See one: firstbreak diagnose {shlex.quote(plain(_place(worst, diagnoses), 200))}")
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
        diagnosis.verdict.value,
        first.link.value if first else "-",
        number(first.onset.lo) if first else "-",
        ("?" if cause.rivals else "") + cause.name if cause else "-",
    )


def _widths(total: int) -> tuple[int, ...]:
    """Return the widths of the five columns; the first and last share what is left."""
    fixed = (9, 19, 9)
    left = max(total - sum(fixed) - 8, 20)
    run = left // 2
    return (run, *fixed, left - run)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    from rich.cells import cell_len, set_cell_size

    fitted = [
        set_cell_size(cell, width) if cell_len(cell) <= width else set_cell_size(cell, width - 1) + "…"
        for cell, width in zip(cells, widths, strict=True)
    ]
    return "  ".join(fitted).rstrip()
