"""Series and a run whose numbers are put together when they are first asked for: most looks read few of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from ..runlog import ClockMap, RunLog
from ..series import Curve, Series, Tally


class LateSeries(Series):
    """A series of which everything but the numbers is known."""

    @staticmethod
    def of(form: Series, numbers: Callable[[], tuple[Curve, Tally, int]]) -> LateSeries:
        """Return a series like `form`; `numbers` returns curve, tally and `proven` when they are first asked for."""
        series = LateSeries.__new__(LateSeries)
        known = {name: value for name, value in vars(form).items() if name not in ("curve", "whole", "proven")}
        vars(series).update(known, _numbers=numbers)
        return series

    @cached_property
    def _made(self) -> tuple[Curve, Tally, int]:
        return vars(self)["_numbers"]()

    @cached_property
    def curve(self) -> Curve:  # pyright: ignore[reportIncompatibleVariableOverride]
        """As `Series.curve`."""
        return self._made[0]

    @cached_property
    def whole(self) -> Tally | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """As `Series.whole`."""
        return self._made[1]

    @cached_property
    def proven(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """As `Series.proven`."""
        return self._made[2]


class LateLog(RunLog):
    """A run whose clocks are tied when they are first asked for."""

    @staticmethod
    def of(log: LateLog, last_step: float, ties: Callable[[], ClockMap | None]) -> LateLog:
        """Return `log`, of which `last_step` is known, and the clocks will be when asked for."""
        del vars(log)["clocks"]
        vars(log).update(last_step=last_step, _ties=ties)
        return log

    @cached_property
    def clocks(self) -> ClockMap | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """As `RunLog.clocks`."""
        return vars(self)["_ties"]()
