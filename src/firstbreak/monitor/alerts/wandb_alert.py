"""`WandbAlert`: notices as alerts of Weights & Biases."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from typing import Any

from ...errors import missing_extra
from ..verdict import Notice
from .alert import AlertError
from .nine import classic_of, level_of, title_of
from .plain import brief, clip


class WandbAlert:
    """Sends through `alert` of a W&B run: INFO, WARN or ERROR. Works offline; the alert is then in the run's file.

    Args:
        run: The run; the active one (`wandb.run`) at the time of the alert when not given.

    Raises:
        MissingExtraError: wandb is not installed.
    """

    def __init__(self, run: Any = None) -> None:
        try:
            self._wandb: Any = import_module("wandb")
        except ImportError as error:
            raise missing_extra("wandb", "wandb", "The alert WandbAlert") from error
        self._run = run

    def send(self, notice: Notice) -> None:
        """Raise the alert.

        Raises:
            AlertError: no run is active.
        """
        run = self._run if self._run is not None else self._wandb.run
        if run is None:
            raise AlertError("No W&B run is active.", "Call wandb.init() first, or give the run: WandbAlert(run).")
        run.alert(
            title=title_of(notice),
            text=plain_text(notice),
            level=self._wandb.AlertLevel[level_of(notice).value],
            wait_duration=timedelta(milliseconds=1),  # the monitor has paced it; 0 would mean a minute
        )


def plain_text(notice: Notice, most: int = 2000) -> str:
    """Return a notice as text, safe to show, for services that show its title or a classic one above it."""
    lines = [
        *([notice.title] if classic_of(notice) else []),
        *notice.text[:most].split("\n"),
        f"rule {notice.name} ({notice.rule}), {notice.place}",
    ]
    return clip("\n".join(brief(line, most) for line in lines if line.strip()), most)
