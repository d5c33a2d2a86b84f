"""Writing a record so that it is whole at any moment, and reading one that anybody may have written."""

from __future__ import annotations

import contextlib
import json
import math
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from ..errors import InputError, UnreadableError
from .contents import NAME, SCHEMA, Code, Context, Ending, Mark

MOST_BYTES = 64 << 20
"""A larger file is no record."""


def write(context: Context, folder: Path) -> Path:
    """Write the record into `folder`, whole or not at all; return its path.

    Raises:
        UnreadableError: the place cannot be written.
    """
    path = folder / NAME
    text = json.dumps(_plain(asdict(context)), indent=1, allow_nan=False)
    name = ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=folder, prefix=".context", delete=False) as file:
            name = file.name
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except OSError as error:
        if name:
            with contextlib.suppress(OSError):
                os.unlink(name)
        raise UnreadableError(f"{path}: cannot be written: {error.strerror}.", "Choose a folder of yours.") from error
    return path


def keep_earlier(folder: Path) -> Path | None:
    """Move a record that `folder` holds already out of the way; return where it lies now."""
    path = folder / NAME
    if not path.exists():
        return None
    number = 1
    while (moved := folder / f"{path.stem}-{number}.json").exists():
        number += 1
    os.replace(path, moved)
    return moved


def read(path: str | Path) -> Context:
    """Read a record: the file, or the folder of the run.

    Raises:
        UnreadableError: it cannot be read; InputError: it is no record, or one of a newer firstbreak.
    """
    place = Path(path)
    file = place / NAME if place.is_dir() else place
    try:
        if file.stat().st_size > MOST_BYTES:
            raise InputError(f"{file}: larger than {MOST_BYTES >> 20} MiB.", f"Give the {NAME} of a run.")
        data = json.loads(file.read_text("utf-8"))
    except InputError:
        raise
    except OSError as error:
        raise UnreadableError(
            f"{file}: {error.strerror}.", "Make one: firstbreak record --run RUN -- python train.py"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: not a record of a run ({error}).", f"Give the {NAME} of a run.") from error
    if not isinstance(data, dict) or not isinstance(cast("dict[str, Any]", data).get("schema"), int):
        raise InputError(f"{file}: not a record of a run.", f"Give the {NAME} of a run.")
    table = cast("dict[str, Any]", data)
    if table["schema"] > SCHEMA:
        raise InputError(f"{file}: written by a newer firstbreak.", "Update firstbreak.")
    try:
        return _context(table)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InputError(f"{file}: damaged ({error}).", "Record the run again, or give another record.") from error


def find(run: str | Path) -> Context | None:
    """Return the record beside a log (a run's folder or a file in it), None when there is none that can be read."""
    place = Path(run)
    for folder in (place, place.parent) if place.is_dir() else (place.parent, place.parent.parent):
        if (folder / NAME).is_file():
            try:
                return read(folder)
            except (InputError, UnreadableError):
                return None
    return None


def _context(data: Mapping[str, Any]) -> Context:
    code, ending = _table(data, "code"), _table(data, "ending")
    return Context(
        created=_text(data, "created"),
        command=_texts(data, "command"),
        folder=_text(data, "folder"),
        config=_table(data, "config"),
        seeds=_table(data, "seeds"),
        code=Code(
            commit=_text(code, "commit"), diff=_text(code, "diff"), diff_sha256=_text(code, "diff_sha256"),
            diff_bytes=int(code.get("diff_bytes", 0)), cut=bool(code.get("cut")), redacted=bool(code.get("redacted")),
            untracked=_texts(code, "untracked"), reason=_text(code, "reason"),
        ),
        packages=_words(data, "packages"),
        hardware=_table(data, "hardware"),
        environment=_words(data, "environment"),
        inputs=_marks(data, "inputs"), data=_marks(data, "data"), rewards=_marks(data, "rewards"),
        checkpoints=_marks(data, "checkpoints"),
        evaluations=_texts(data, "evaluations"),
        ending=Ending(
            status=_text(ending, "status") or "running", exit_status=_number(ending, "exit_status"),
            signal=_text(ending, "signal"), error=_text(ending, "error"), at=_text(ending, "at"),
            duration_s=_number(ending, "duration_s"), peak_memory_bytes=_number(ending, "peak_memory_bytes"),
        ),
        notes=_texts(data, "notes"),
        tool_version=_text(data, "tool_version"),
    )  # fmt: skip


def _table(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    value: Any = data.get(key) or {}
    if not isinstance(value, dict):
        raise TypeError(f"{key} is no table")
    return {str(k): v for k, v in cast("dict[Any, Any]", value).items()}


def _words(data: Mapping[str, Any], key: str) -> dict[str, str]:
    return {k: str(v) for k, v in _table(data, key).items()}


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key) or ""
    if not isinstance(value, str):
        raise TypeError(f"{key} is no text")
    return value


def _texts(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value: Any = data.get(key) or []
    if not isinstance(value, list) or not all(isinstance(v, str) for v in cast("list[Any]", value)):
        raise TypeError(f"{key} is no list of texts")
    return tuple(cast("list[str]", value))


def _number(data: Mapping[str, Any], key: str) -> Any:
    value = data.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise TypeError(f"{key} is no number")
    return value


def _marks(data: Mapping[str, Any], key: str) -> tuple[Mark, ...]:
    value: Any = data.get(key) or []
    if not isinstance(value, list):
        raise TypeError(f"{key} is no list")
    entries = cast("list[dict[str, Any]]", value)
    return tuple(
        Mark(
            _text(e, "path"),
            _text(e, "sha256"),
            int(e.get("size_bytes", 0)),
            int(e.get("files", 1)),
            _text(e, "reason"),
        )
        for e in entries
    )


def _plain(value: Any) -> Any:
    """Return `value` in types that JSON has; numbers that are not finite by name, lone surrogates replaced."""
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {_plain(str(k)): _plain(v) for k, v in items}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in cast("list[Any]", value)]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value if value is None or isinstance(value, bool | int | float) else str(value)
