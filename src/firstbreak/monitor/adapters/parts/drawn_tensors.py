"""Whether rows that are drawn are those that are held, where both are tensors: see `drawn.py`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from torch import Tensor

from .brought import brought
from .drawn import METRIC, unlike

Rows = Mapping[str, Tensor]
"""Name -> column [N, ...]; all on one device."""


def compared(drawn: Rows, held: Rows, *, known: Tensor | None = None) -> dict[str, float]:
    """Return the share of rows [N] that are not the held ones, brought to the host in one transfer.

    Args:
        drawn: Columns without another of the same name and shape are left out.
        held: The rows at the places that were drawn.
        known: Whether the place of each row is known [N]; None: of all.
    """
    names = [name for name, column in drawn.items() if name in held and column.shape == held[name].shape]
    if not names:
        return {}
    device = drawn[names[0]].device
    extra = [] if known is None else [known]
    columns = [*(drawn[name] for name in names), *(held[name] for name in names), *extra]
    tables = brought([column.to(device) for column in columns])
    count = len(names)
    one, two = (dict(zip(names, tables[start : start + count], strict=True)) for start in (0, count))
    apart = unlike(one, two)
    if apart is None:
        return {}
    kept = np.ones(len(apart), dtype=np.bool_) if known is None else tables[-1] != 0
    return {METRIC: float(apart[kept].mean())} if kept.any() else {}
