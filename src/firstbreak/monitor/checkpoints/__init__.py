"""Checkpoints that survive a crash, going back to the last healthy one, and what a resume would lose."""

from __future__ import annotations

from .errors import CheckpointError
from .files import Opened
from .manifest import Checkpoint
from .parts import capture, restore
from .ranks import shared_step
from .resume import Lack, Snapshot, missing_parts, snapshot, validate_resume
from .rng import rng_state, set_rng_state
from .store import Checkpoints

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "Checkpoints",
    "Lack",
    "Opened",
    "Snapshot",
    "capture",
    "missing_parts",
    "restore",
    "rng_state",
    "set_rng_state",
    "shared_step",
    "snapshot",
    "validate_resume",
]
