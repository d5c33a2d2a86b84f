"""Hashes of files, folders and functions."""

from __future__ import annotations

import hashlib
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from .contents import Mark

_CHUNK_BYTES = 1 << 20
MOST_BYTES = 64 << 30
"""More than this of one path is not hashed: it would take minutes. Engineering default."""
MOST_FILES = 100_000


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def mark(path: str | Path) -> Mark:
    """Return the hash of a file, or of a folder: of the sorted lines `hash  name` of its files, links left out."""
    place = Path(path)
    try:
        if place.is_file():
            size = place.stat().st_size
            if size > MOST_BYTES:
                return Mark(str(path), size_bytes=size, reason=f"larger than {MOST_BYTES >> 30} GiB")
            return Mark(str(path), sha256_of(place), size)
        if place.is_dir():
            return _folder(str(path), place)
    except OSError as error:
        return Mark(str(path), files=0, reason=error.strerror or type(error).__name__)
    return Mark(str(path), files=0, reason="no such file or folder")


def _folder(name: str, place: Path) -> Mark:
    found = files_of(place)
    size = sum(path.stat().st_size for path in found)
    if len(found) > MOST_FILES or size > MOST_BYTES:
        return Mark(name, size_bytes=size, files=len(found), reason="too large to be hashed")
    lines = sorted(f"{sha256_of(path)}  {path.relative_to(place).as_posix()}\n" for path in found)
    digest = hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
    return Mark(name, digest, size, len(found))


def files_of(place: Path) -> list[Path]:
    """Return the plain files below a folder, sorted; links are not followed."""
    found = [Path(root) / name for root, _, names in os.walk(place) for name in names]
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def mark_function(function: Callable[..., Any]) -> Mark:
    """Return the hash of a function's source; of its bytecode where there is no source."""
    whole: Any = inspect.unwrap(function)
    inner = cast(Any, whole if hasattr(whole, "__code__") or inspect.isclass(whole) else type(whole))
    name = f"{getattr(inner, '__module__', '')}:{getattr(inner, '__qualname__', type(whole).__name__)}"
    try:
        source = inspect.getsource(inner)
    except (OSError, TypeError):
        code = getattr(getattr(inner, "__code__", None), "co_code", None)
        if code is None:
            return Mark(name, reason="its source is not there")
        return Mark(name, hashlib.sha256(code).hexdigest(), len(code), reason="bytecode; its source is not there")
    text = inspect.cleandoc(source).encode()
    return Mark(name, hashlib.sha256(text).hexdigest(), len(text))
