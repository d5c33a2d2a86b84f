"""`TrackioAlert`: notices as alerts of Trackio."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...errors import MissingExtraError, missing_extra
from ..verdict import Notice
from .alert import AlertError
from .nine import level_of, title_of
from .wandb_alert import plain_text


class TrackioAlert:
    """Sends through `trackio.alert`: the alert is stored with the run and shown in the dashboard.

    Trackio keeps its active run in a context variable, so the run is that of the code that called `Monitor.log`.

    Args:
        run: The run; the active one at the time of the alert when not given.

    Raises:
        MissingExtraError: trackio is not installed, or too old to have alerts.
    """

    def __init__(self, run: Any = None) -> None:
        try:
            self._trackio: Any = import_module("trackio")
        except ImportError as error:
            raise missing_extra("trackio", "trackio", "The alert TrackioAlert") from error
        if not hasattr(self._trackio, "alert"):
            raise MissingExtraError("The installed trackio has no alerts.", "Update it: pip install --upgrade trackio")
        self._run = run

    def send(self, notice: Notice) -> None:
        """Raise the alert.

        Raises:
            AlertError: no run is active.
        """
        run = self._run if self._run is not None else self._trackio.context_vars.current_run.get()
        if run is None:
            raise AlertError("No Trackio run is active.", "Call trackio.init() first, or give the run.")
        level = self._trackio.AlertLevel[level_of(notice).value]
        run.alert(title=title_of(notice), text=plain_text(notice), level=level)
