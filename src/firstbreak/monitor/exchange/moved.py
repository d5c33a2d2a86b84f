"""Whether the observations of a row lie where those of the rows before did, without a model of the environment."""

from __future__ import annotations

import numpy as np

from .transitions import TINY, Floats

FAR, LEAST_SHRINK = 3.0, 0.1
"""How far one row may count as away, in standard deviations, and how much narrower, when the reference follows."""
LEAST_SPREAD = 0.05
"""Share of the entries' median spread that each is taken to have: what hardly moves is not a measure of distance."""


class Moved:
    """Compares rows with a reference that follows them.

    Args:
        memory: What of the reference stays with every row.
    """

    def __init__(self, memory: float) -> None:
        self._memory = memory
        self._reference: tuple[Floats, Floats] | None = None

    def compared(self, mean: Floats, std: Floats) -> dict[str, float]:
        """Compare the observations with those of the rows before, entry by entry; then follow them."""
        found: dict[str, float] = {}
        memory = self._memory
        if self._reference is not None:
            usual, spread = self._reference
            spread = np.maximum(spread, LEAST_SPREAD * float(np.median(spread)))
            varied = spread > TINY
            if varied.any():
                shift = (mean - usual)[varied] / spread[varied]
                scale = np.log(np.maximum(std[varied], TINY) / spread[varied])
                found["obs/shift"] = float(np.sqrt(np.mean(shift**2)))
                found["obs/scale_growth"] = max(0.0, float(scale.max()))  # what holds still shrinks, and is no break
            # By logarithms: one row a hundred times as wide must not make itself the usual.
            held = np.maximum(std, LEAST_SHRINK * spread)
            std = np.where(varied, np.exp(memory * np.log(spread + TINY) + (1 - memory) * np.log(held + TINY)), std)
            near = np.clip(mean - usual, -FAR * spread, FAR * spread)
            mean = np.where(varied, usual + (1 - memory) * near, mean)
        if np.isfinite(mean).all() and np.isfinite(std).all():
            self._reference = mean, std
        return found
