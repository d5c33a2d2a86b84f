"""`Call`: any function as an alert."""

from __future__ import annotations

from collections.abc import Callable

from ..verdict import Notice


class Call:
    """Hands each notice to a function of yours, on its own thread; a bare function among alerts becomes one.

    Args:
        function: Called with the `Notice`; what it returns is ignored, what it raises counts as not delivered.
    """

    def __init__(self, function: Callable[[Notice], object]) -> None:
        self.function = function

    def send(self, notice: Notice) -> None:
        """Call the function."""
        self.function(notice)
