"""Actions that are choices, as an environment counts them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def choices(action: NDArray[np.generic], columns: int) -> NDArray[np.generic]:
    """Return actions [n, ...] that a batch holds one-hot as numbers [n, 1], others as they are.

    Args:
        action: As the batch holds them.
        columns: Entries of an action as the environment got it.
    """
    table = action.reshape(len(action), -1)
    one_hot = table.shape[1] > columns == 1 and bool(((table == 0) | (table == 1)).all() and (table.sum(1) == 1).all())
    return table.argmax(1)[:, None] if one_hot else action
