"""Samples on the page of an inspection."""

from __future__ import annotations

from collections.abc import Sequence

from ...audit.views import Shown
from ..html import environment
from . import words


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
