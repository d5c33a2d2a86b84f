"""How far each sample stands out from its rivals in one measure, at equal length."""

from __future__ import annotations

import numpy as np

from ..table import Table
from .contrast import contrast
from .groups import Floats, dense
from .paid import column


def characters(table: Table) -> Floats:
    """Return the length of each response [N], in characters or, failing that, in tokens."""
    found = column(table, "text/characters")
    return found if np.isfinite(found).any() else column(table, "length_tokens")


def standing_out(table: Table, name: str, unit: float) -> Floats:
    """Return by how many spreads (of at least `unit`) each sample lies above its rivals in column `name` [N].

    Its own length is allowed for; 0 where the column or its value is missing.
    """
    if table.get(name) is None:
        return np.zeros(table.n)
    return contrast(column(table, name), dense(table.group), np.log1p(np.maximum(characters(table), 0)), unit)
