"""What an oracle's verdicts say together: a table for the report, and what it could not say."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from .oracle import Answers

SHOWN = 20
"""Episodes listed one by one."""


def table_of(answers: Answers) -> list[dict[str, Any]]:
    """Return a table of the first calls after which episodes could not succeed, empty where none was judged."""
    lost = [v for v in answers.verdicts if v.first_lost is not None]
    if not lost:
        return []
    rows = [[v.row, v.first_lost, v.calls, "yes" if v.wavers else ""] for v in lost[:SHOWN]]
    columns = ["row", "lost at call", "calls", "called solvable again later"]
    return [{"title": "where episodes were lost, says the oracle", "columns": columns, "rows": rows}]


def notes_of(answers: Answers) -> list[str]:
    """Return what the oracle said of all episodes in one sentence, and what went wrong with it."""
    said = answers.verdicts
    notes = [f"the oracle ended early: {answers.trouble}"] if answers.trouble else []
    if not said:
        return [*notes, "the oracle judged no episode: it needs unsuccessful ones with calls"]
    lost = [v.first_lost for v in said if v.first_lost is not None]
    text = f"the oracle judged {len(said)} unsuccessful episodes: {len(lost)} were lost before they ended"
    if lost:
        first = Counter(lost)[0]
        text += f", at call {float(np.median(lost)):g} in the median, {first} before any call"
    return [*notes, text]
