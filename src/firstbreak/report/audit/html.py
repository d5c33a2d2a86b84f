"""Samples on the page of an inspection."""

from __future__ import annotations

from collections.abc import Sequence

from ...audit.views import Shown
from ...inspection import Inspection
from ..html import environment
from ..inspection.html import page as inspection_page
from . import words

END = "<footer>"
"""Where the samples go in: before the last line of the page."""


def page(seen: Sequence[Inspection], rows: Sequence[Sequence[Shown]]) -> str:
    """Return the page of an inspection with rows of samples below it; every text is cleaned and escaped."""
    head, mark, foot = inspection_page(seen).rpartition(END)
    return f"{head}{section(rows)}{mark}{foot}"


def section(rows: Sequence[Sequence[Shown]]) -> str:
    """Return rows of samples as a piece of HTML."""
    entries = [
        [
            {"title": words.title(one), "scores": words.scores(one), "prompt": words.text(one.prompt),
             "response": words.text(one.response)}
            for one in row
        ]
        for row in rows
    ]  # fmt: skip
    return environment().get_template("audit_samples.html").render(rows=entries)
