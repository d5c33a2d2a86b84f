"""Puts a record together before a run starts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import FirstbreakError
from . import machine
from .code_version import code_version
from .contents import Context, Mark
from .hashing import mark, mark_function
from .secrets import clean_command, clean_line, clean_settings
from .settings import arguments, seeds

MOST_INPUT_BYTES = 64 << 20
"""Files named in a command are hashed up to this size. Engineering default."""
Reward = str | Path | Callable[..., Any]
"""A file, a target `module:name` or `file.py:name` (its file is hashed, nothing imported), or the function itself."""


def gather(
    command: Sequence[str],
    folder: Path,
    *,
    config: Mapping[str, Any] | None = None,
    data: Iterable[str | Path] = (),
    rewards: Iterable[Reward] = (),
    evaluations: Iterable[str] = (),
    seed: int | None = None,
) -> Context:
    """Return the record of a run that is about to start with `command` in `folder`."""
    options = arguments(command)
    settings = {**clean_settings(config or {}), **clean_settings(options)}
    variables = machine.environment()
    found: dict[str, Any] = dict(seeds(options, config or {}, variables))
    if seed is not None:
        found["given"] = seed
    notes = [] if found else ["no seed in the command, the configuration or the environment"]
    return Context(
        created=now(),
        command=clean_command(command),
        folder=str(folder),
        config=settings,
        seeds=found,
        code=code_version(folder),
        packages=machine.packages_of(_interpreter(command)),
        hardware=machine.hardware(),
        environment=variables,
        inputs=tuple(_inputs(command, folder)),
        data=tuple(mark_in(folder, str(path)) for path in data),
        rewards=tuple(_reward(one, folder) for one in rewards),
        evaluations=tuple(clean_line(line) for line in evaluations),
        notes=tuple(notes),
        tool_version=__version__,
    )


def now() -> str:
    """Return the present in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_settings(path: Path) -> dict[str, Any]:
    """Return the flat settings in a file of YAML, JSON or TOML.

    Raises:
        FirstbreakError: it cannot be read, or is no table.
    """
    from ..preflight.checklist.record import read_record

    return dict(read_record(path).keys)


def _interpreter(command: Sequence[str]) -> str:
    """Return the Python that a command starts, `""` for ours or when that cannot be told."""
    first = Path(command[0]).name if command else ""
    return shutil.which(command[0]) or "" if first.startswith(("python", "pypy")) else ""


def _inputs(command: Sequence[str], folder: Path) -> Iterable[Mark]:
    """Mark the files that the command names: the script and configurations, not the interpreter."""
    for index, word in enumerate(command):
        name = word.partition("=")[2] or word
        path = folder / name
        try:
            if index and name and path.is_file() and path.stat().st_size <= MOST_INPUT_BYTES:
                yield Mark(name, mark(path).sha256, path.stat().st_size)
        except (OSError, ValueError):
            continue


def mark_in(folder: Path, path: str) -> Mark:
    """Return the hash of what `path` names in `folder`, under the name that was given."""
    return replace(mark(folder / path), path=path)


def _reward(one: Reward, folder: Path) -> Mark:
    if callable(one):
        return mark_function(one)
    text = str(one)
    if (folder / text).exists():
        return mark_in(folder, text)
    where, colon, _ = text.rpartition(":")
    try:
        path = _source(where, folder) if colon else None
    except (FirstbreakError, ImportError, ValueError):
        path = None
    if path is None:
        return Mark(text, files=0, reason="no such file, and no module of this name")
    return replace(mark(path), path=text)


def _source(module: str, folder: Path) -> Path | None:
    """Return the file of a module that lies in the working folder or is installed; nothing is imported."""
    if module.endswith(".py"):
        return folder / module if (folder / module).is_file() else None
    parts = module.split(".")
    local = folder.joinpath(*parts)
    beside = next((p for p in (local.with_suffix(".py"), local / "__init__.py") if p.is_file()), None)
    if beside is not None or len(parts) > 1:
        return beside
    from importlib.util import find_spec

    spec = find_spec(module)  # of a top-level name this imports nothing
    return Path(spec.origin) if spec and spec.origin and Path(spec.origin).is_file() else None
