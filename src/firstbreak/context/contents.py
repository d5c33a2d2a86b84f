"""What a record of a run holds. Plain data, standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SCHEMA = 1
NAME = "firstbreak-context.json"
"""The file in the folder of a run."""
REMOVED = "[removed]"
"""Stands where a secret was."""


@dataclass(frozen=True)
class Code:
    """The version of the code: the commit, and what was not committed."""

    commit: str = ""
    diff: str = ""
    """Against the commit, new text files included; secrets removed, cut at a limit."""
    diff_sha256: str = ""
    """Of the whole diff before anything was removed; `""` when there is none."""
    diff_bytes: int = 0
    cut: bool = False
    redacted: bool = False
    untracked: tuple[str, ...] = ()
    """New files that are not in the diff: binary, large, or named like a secret."""
    reason: str = ""
    """Why nothing is known, `""` when something is."""

    @property
    def whole(self) -> bool:
        """Whether the diff can be applied: nothing cut, nothing removed. New files may be left out of it."""
        return bool(self.commit) and not self.cut and not self.redacted


@dataclass(frozen=True)
class Mark:
    """A file, a folder or the source of a function, by its hash."""

    path: str
    sha256: str = ""
    size_bytes: int = 0
    files: int = 1
    reason: str = ""
    """Why there is no hash."""


@dataclass(frozen=True)
class Ending:
    """How the run ended. `status` is running, finished, failed or killed."""

    status: str = "running"
    exit_status: int | None = None
    signal: str = ""
    error: str = ""
    """The type of the exception, never its message."""
    at: str = ""
    duration_s: float | None = None
    peak_memory_bytes: int | None = None
    """Of the largest process."""


@dataclass(frozen=True)
class Context:
    """Everything that may tell why two runs differ, and what is needed to run one again."""

    created: str
    """UTC, ISO 8601."""
    command: tuple[str, ...] = ()
    folder: str = ""
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    seeds: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Where the seed was found (`argument --seed`, `config train.seed`, `environment PYTHONHASHSEED`) -> the seed."""
    code: Code = field(default_factory=Code)
    packages: Mapping[str, str] = field(default_factory=dict[str, str])
    hardware: Mapping[str, Any] = field(default_factory=dict[str, Any])
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    inputs: tuple[Mark, ...] = ()
    """Files named in the command: the script, configurations."""
    data: tuple[Mark, ...] = ()
    rewards: tuple[Mark, ...] = ()
    checkpoints: tuple[Mark, ...] = ()
    evaluations: tuple[str, ...] = ()
    """The commands that evaluate the run."""
    ending: Ending = field(default_factory=Ending)
    notes: tuple[str, ...] = ()
    schema: int = SCHEMA
    tool_version: str = ""

    @property
    def redacted_arguments(self) -> tuple[int, ...]:
        """Positions in the command where a secret was removed."""
        return tuple(i for i, word in enumerate(self.command) if REMOVED in word)
