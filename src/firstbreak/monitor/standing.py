"""Whether checkpoints written now are of a healthy run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..finding import Severity
from .verdict import Action, Alarm


class Standing:
    """Tells `checkpoints` from where on the run is broken, and when it has mended by itself."""

    def __init__(self, checkpoints: Any) -> None:
        self._checkpoints = checkpoints
        self._broken = False

    def hear(self, alarms: Sequence[Alarm], still_grave: Callable[[], bool]) -> None:
        """Take the alarms of one row; `still_grave` says whether there is still reason to call it broken."""
        grave = [a for a in alarms if a.finding.severity is Severity.ERROR or a.action is Action.ROLL_BACK]
        if grave:
            self._checkpoints.broke(min(a.finding.onset.lo for a in grave))
            self._broken = True
        elif self._broken and not still_grave():
            self._checkpoints.mended()
            self._broken = False
