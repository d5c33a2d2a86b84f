"""The error that loading and rolling back raise."""

from __future__ import annotations

from typing import ClassVar

from ...errors import FirstbreakError


class CheckpointError(FirstbreakError, RuntimeError):
    """A checkpoint cannot be written, read or rolled back to: what happened, where, and what to do."""

    kind: ClassVar[str] = "checkpoint"
