"""Whether a checkpoint is whole, told from its container alone: nothing in it is unpickled or run."""

from __future__ import annotations

import json
import zipfile
import zlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from ..context.hashing import files_of

MOST_UNPACKED_BYTES = 64 << 30
"""A container that unpacks to more is not gone through. Engineering default."""
MOST_HEADER_BYTES = 100 << 20
"""The largest header that safetensors itself reads (MAX_HEADER_SIZE of its Rust crate)."""
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_ZIPPED = (".zip", ".npz", ".keras")
_INDEX = ".index.json"


class State(StrEnum):
    """What the container says."""

    WHOLE = "whole"
    DAMAGED = "damaged"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Structure:
    """The state of a checkpoint, and why."""

    state: State
    why: str

    def __str__(self) -> str:
        return f"{self.state.value}: {self.why}"


def structure_of(path: Path) -> Structure:
    """Return whether a file, or every file of a folder whose format is known, is whole.

    Known are zip files (Stable-Baselines3, torch.save since 1.6, npz), of which every checksum is recomputed;
    safetensors, whose header must account for every byte (https://huggingface.co/docs/safetensors, format); and the
    index of shards.
    """
    try:
        return _folder(path) if path.is_dir() else _file(path)
    except OSError as error:
        return Structure(State.DAMAGED, f"{path.name} cannot be read: {error.strerror or type(error).__name__}")


def _folder(place: Path) -> Structure:
    found = [(path, _file(path)) for path in files_of(place)]
    if not found:
        return Structure(State.DAMAGED, "an empty folder")
    damaged = [one for _, one in found if one.state is State.DAMAGED]
    if damaged:
        return damaged[0]
    whole = [one for _, one in found if one.state is State.WHOLE]
    if not whole:
        return Structure(State.NOT_CHECKED, f"no file of a known format among {len(found)}")
    return Structure(State.WHOLE, f"{len(whole)} of {len(found)} files are of a known format")


def _file(path: Path) -> Structure:
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(4)
    if path.name.endswith(_INDEX):
        return _shards(path)
    if path.suffix == ".safetensors":
        return _safetensors(path, size)
    if start in _ZIP or path.suffix in _ZIPPED:
        return _zip(path)
    if not size and path.suffix in (".pt", ".pth", ".ckpt", ".bin"):
        return Structure(State.DAMAGED, f"{path.name} is empty")
    return Structure(State.NOT_CHECKED, f"{path.name} is of a format that firstbreak does not know")


def _zip(path: Path) -> Structure:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if sum(one.file_size for one in members) > MOST_UNPACKED_BYTES:
                return Structure(State.NOT_CHECKED, f"{path.name} unpacks to more than {MOST_UNPACKED_BYTES >> 30} GiB")
            bad = archive.testzip()
    except (NotImplementedError, RuntimeError) as error:  # a compression of its own, or a password
        return Structure(State.NOT_CHECKED, f"{path.name}: {str(error)[:80]}")
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError) as error:
        return Structure(State.DAMAGED, f"{path.name} is no whole zip file ({str(error)[:80]})")
    if bad is not None:
        return Structure(State.DAMAGED, f"{path.name}: the checksum of {bad[:80]} in it is wrong")
    if not members:
        return Structure(State.DAMAGED, f"{path.name} is a zip file with nothing in it")
    if min(one.header_offset for one in members) > 0:  # cut off: what is whole is a zip file inside it, as of torch
        return Structure(State.DAMAGED, f"{path.name} is cut off: only a zip file inside it is whole")
    return Structure(State.WHOLE, f"{path.name}: {len(members)} files in it, checksums right")


def _safetensors(path: Path, size: int) -> Structure:
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(MOST_HEADER_BYTES, size - 8):
            return Structure(State.DAMAGED, f"{path.name} ends within its header")
        text = file.read(length)
    try:
        header = cast("dict[str, Any]", json.loads(text))
        spans = sorted(_span(entry) for name, entry in header.items() if name != "__metadata__")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Structure(State.DAMAGED, f"{path.name}: its header is no table of tensors")
    ends = [0, *(hi for _, hi in spans)]
    if [lo for lo, _ in spans] != ends[:-1] or ends[-1] != size - 8 - length:
        return Structure(
            State.DAMAGED, f"{path.name}: its header speaks of {ends[-1]} bytes, {size - 8 - length} are there"
        )
    return Structure(State.WHOLE, f"{path.name}: {len(spans)} tensors account for every byte")


def _span(entry: Any) -> tuple[int, int]:
    lo, hi = entry["data_offsets"]
    if not (isinstance(lo, int) and isinstance(hi, int) and 0 <= lo <= hi):
        raise ValueError("no span")
    return lo, hi


def _shards(path: Path) -> Structure:
    """Judge an index of shards (transformers): every file that it names must be there."""
    try:
        table = cast("dict[str, Any]", json.loads(path.read_text("utf-8")))
        named = sorted({str(name) for name in cast("dict[str, Any]", table["weight_map"]).values()})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Structure(State.DAMAGED, f"{path.name} is no index of shards")
    lost = [name for name in named if not (path.parent / Path(name).name).is_file()]
    if lost:
        return Structure(State.DAMAGED, f"{len(lost)} of {len(named)} shards are not there: {lost[0][:80]}")
    return Structure(State.WHOLE, f"{path.name}: {len(named)} shards are there")
