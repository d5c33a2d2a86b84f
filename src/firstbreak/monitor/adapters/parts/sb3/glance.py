"""A look at what every on-policy update leaves behind at no cost, for updates whose row is not due."""

from __future__ import annotations

import math
from collections.abc import Mapping

from torch import Tensor

from ....attention import Screens

NORM = "optim/grad_norm"
GLANCED = frozenset({"policy/loss", "critic/loss", "policy/entropy", NORM})


class Glance:
    """Knows the ranges of a few numbers, and says when an update left one that is out of the ordinary."""

    def __init__(self) -> None:
        self._screens = Screens(GLANCED)

    def look(self, recorded: Mapping[str, float], norm: Tensor | None) -> tuple[bool, dict[str, float]]:
        """Return whether a number is out of the ordinary, and those that are not finite.

        What is out of the ordinary is not to be logged itself: picked for that, it would make spikes look frequent.
        What it did shows in the row of the next update.

        Args:
            recorded: What the algorithm recorded of its update.
            norm: Of its last gradient []; read where that makes no graphics card wait.
        """
        row = {key: value for key, value in recorded.items() if key in GLANCED}
        if norm is not None and norm.device.type == "cpu":
            row[NORM] = float(norm)
        odd = bool(self._screens.odd(tuple(row), list(row.values())))
        return odd, {name: value for name, value in row.items() if not math.isfinite(value)}
