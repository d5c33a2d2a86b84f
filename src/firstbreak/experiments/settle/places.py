"""Where the experiments of a run are recorded."""

from __future__ import annotations

from pathlib import Path


def folder_of(run: Path) -> Path:
    """Return the folder beside which experiments are recorded: the run's own, or that of its log file."""
    place = place_of(run)
    return place if place.is_dir() else place.parent


def place_of(run: Path) -> Path:
    """Return where a run lies on disk: of several in one place each is named PLACE#RUN."""
    before = str(run).rpartition("#")[0]
    return Path(before) if before and not run.exists() else run
