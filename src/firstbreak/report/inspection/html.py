"""The page of inspections: one self-contained HTML file without a script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import __version__
from ...blame import whose_fault
from ...diagnosis import Verdict
from ...inspection import Inspection
from ..html import SYMBOLS, asset, environment
from ..text_full import nested
from ..words import count
from . import words


def page(
    seen: Sequence[Inspection],
    rows: Sequence[dict[str, str]] = (),
    title: str = "",
    *,
    verdict: Verdict = Verdict.UNDECIDED,
    problems: Sequence[str] = (),
    below: str = "",
) -> str:
    """Return a whole page; `rows` of a checklist (status, question, link, answer) come first.

    `title`, `verdict` and `problems` are the checklist's. `below` is a piece of HTML that a template of this package
    made; it comes last and is not escaped again.
    """
    from markupsafe import Markup

    return (
        environment()
        .get_template("inspection_page.html")
        .render(
            inspections=[_one(one) for one in seen],
            rows=rows,
            verdict=verdict,
            problems=problems,
            below=Markup(below),  # noqa: S704 - made by a template that escapes
            css=asset("report.css"),
            version=__version__,
            title=title or (words.headline(seen[0]) if seen else "before training"),
        )
    )


def _one(seen: Inspection) -> dict[str, Any]:
    return {
        "seen": seen,
        "symbol": SYMBOLS[seen.verdict],
        "headline": words.headline(seen),
        "advice": words.advice(seen),
        "coverage": words.coverage(seen),
        "findings": [
            {
                "finding": finding,
                "depth": min(depth, 3),
                "fix": words.fix(seen, finding),
                "step": words.step_of(finding),
                "evidence": words.evidence(finding),
            }
            for finding, depth in nested(seen.findings)
        ],
        "tables": words.tables(seen),
        "skipped": [s for s in seen.skipped if s.applies],
        "beside": [s.name for s in seen.skipped if not s.applies],
        "failures": words.failures(seen),
        "count": count,
        "whose_fault": whose_fault,
    }
