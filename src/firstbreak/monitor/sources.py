"""What stands beside the loop and adds metrics to its rows: phase timers, the host's memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from ..errors import InputError

Source = Callable[[], Mapping[str, float]]


class Sources:
    """Asked at every row; what fails is left out and said.

    Args:
        fault: Hears of sources that failed.
    """

    def __init__(self, fault: Callable[[str], None]) -> None:
        self._sources: list[Source] = []
        self._fault = fault

    def add(self, source: Source) -> None:
        """Ask `source` from the next row on."""
        self._sources.append(source)

    def gathered(self, metrics: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return `metrics` and what the sources say; the loop's own win.

        Raises:
            InputError: a row that is no mapping.
        """
        if not isinstance(cast(Any, metrics), Mapping):
            raise InputError(f"A row of {type(metrics).__name__} was logged.", "Log key -> number.")
        if not self._sources:
            return metrics
        more: dict[str, Any] = {}
        for source in self._sources:
            try:
                more.update(source())
            except Exception as error:
                self._fault(f"a source of metrics failed: {type(error).__name__}: {error}")
        return {**more, **metrics}
