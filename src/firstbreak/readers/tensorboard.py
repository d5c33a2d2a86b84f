"""TensorBoard event files (`events.out.tfevents.*`), read without TensorFlow or TensorBoard, nothing sampled away."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..errors import InputError, UnreadableError
from ..runlog import Problem, Recording
from ..series import Curve
from .hyperparameters import json_object, markdown_table
from .protocol import Options, Reader
from .protowire import WireError
from .tfevent_columns import Columns
from .tfevent_message import Value, parse_hparams
from .tfevents import HEADER, Damage, Framer, header_right

CONFIG_TEXTS = ("hyperparameters", "args", "config")
"""Text tags (before `/text_summary`) that hold the run's hyper-parameters: CleanRL, Transformers and TRL, others."""
ENDED = {1: "finished", 2: "crashed"}


def sniff(path: Path) -> float:
    """Say how surely `path` is an event file: the name, and the checksum of the first length."""
    try:
        with path.open("rb") as stream:
            head = stream.read(HEADER + 64)
    except OSError:
        return 0.0
    named = ".tfevents." in path.name or path.name.endswith(".tfevents")
    if len(head) < HEADER or not header_right(bytearray(head), 0):
        return 0.6 if named else 0.0
    return 1.0 if named or b"brain.Event:" in head else 0.2


def read(path: Path, options: Options) -> Recording:
    """Read one event file."""
    return read_many([path], options)


def read_many(paths: Sequence[Path], options: Options) -> Recording:
    """Read event files of one run, in the order given, as if they were one file."""
    recording = Recording(path=str(paths[0]), reader="tensorboard")
    columns = Columns(verify=options.verify)
    sizes = [_size(path) for path in paths]
    if not sum(sizes):
        raise InputError(
            f"{paths[0]} is empty: no event has been written to it yet.",
            "Give the run time to write its first metrics, or point at its other event files.",
        )
    done = 0
    for path, size in zip(paths, sizes, strict=True):
        if size:
            _read_file(path, size, columns, recording, options, (done, sum(sizes)))
        else:
            recording.problems.append(Problem(str(path), "", "the file is empty."))
        done += size
    _report_kinds(columns, recording)
    for value in columns.others:
        _take_text(value, recording)
    _take_curves(columns, recording)
    if not recording.curves:
        recording.problems.append(Problem(recording.path, "", "it holds no scalar metric (yet)."))
    return recording


def _size(path: Path) -> int:
    try:
        if not path.is_file():
            raise UnreadableError(f"{path} is not a file.", "Give the path of one event file.")
        return path.stat().st_size
    except OSError as error:
        raise _cannot_open(path, error) from error


def _cannot_open(path: Path, error: OSError) -> UnreadableError:
    if isinstance(error, UnreadableError):
        return error
    return UnreadableError(f"Cannot read {path}: {error.strerror or error}.", "Check its permissions.")


def _read_file(
    path: Path, size: int, columns: Columns, recording: Recording, options: Options, progress: tuple[int, int]
) -> None:
    done, total = progress
    before = len(columns.corrupt), columns.foreign
    records = 0
    try:
        with path.open("rb") as stream:
            framer = Framer(stream, size)
            for block in framer:
                records += block.starts.size
                columns.add(block)
                options.progress(done + min(block.offset + len(block.data), size), total)
            recording.modified = max(recording.modified, os.fstat(stream.fileno()).st_mtime)
    except OSError as error:
        raise _cannot_open(path, error) from error
    if not records and framer.damage.cut_at != 0:
        raise InputError(
            f"{path} is not an event file: no record with a right checksum was found in its {size} bytes.",
            "Point at a file named events.out.tfevents.*.",
        )
    _report_damage(path, framer.damage, recording)
    corrupt, foreign = columns.corrupt[before[0] :], columns.foreign - before[1]
    if corrupt:
        what = f"{len(corrupt)} records with a wrong data checksum were left out."
        recording.problems.append(Problem(str(path), f"byte {min(corrupt)}", what))
    if foreign:
        recording.problems.append(Problem(str(path), "", f"{foreign} records that are not events were left out."))


def _report_damage(path: Path, damage: Damage, recording: Recording) -> None:
    if damage.stretches:
        what = f"{damage.lost_bytes} bytes in {damage.stretches} stretches are damaged and were skipped."
        recording.problems.append(
            Problem(str(path), f"byte {damage.first}", what, "Points of these stretches are missing.")
        )
    if damage.oversized:
        what = f"{damage.oversized} records longer than a block were not looked into (graphs, images)."
        recording.problems.append(Problem(str(path), "", what))
    if damage.cut_at >= 0:
        what = "the last record is incomplete: still being written or cut off."
        recording.problems.append(Problem(str(path), f"byte {damage.cut_at}", what, "All before it was read."))


def _report_kinds(columns: Columns, recording: Recording) -> None:
    for kind, tags in sorted(columns.unread.items()):
        names = ", ".join(sorted(tags)[:3]) + (", ..." if len(tags) > 3 else "")
        what = f"{len(tags)} {kind} {'tag was' if len(tags) == 1 else 'tags were'} not read: {names}."
        recording.problems.append(Problem(recording.path, "", what, "Only scalars and texts are used."))


def _take_text(value: Value, recording: Recording) -> None:
    if value.plugin == "hparams":
        try:
            config, status = parse_hparams(value.content)
        except WireError:
            recording.problems.append(Problem(recording.path, value.tag, "its hyper-parameters cannot be decoded."))
            return
        recording.config.update(config)
        recording.ended = ENDED.get(status, recording.ended)
        return
    recording.texts[value.tag] = value.text
    if value.tag.removesuffix("/text_summary") in CONFIG_TEXTS:
        recording.config.update(markdown_table(value.text) or json_object(value.text))


def _take_curves(columns: Columns, recording: Recording) -> None:
    for tag in list(columns.points):
        pieces = columns.points.pop(tag)  # freed one by one, so that both forms never exist in full
        value = np.concatenate([piece.value for piece in pieces], dtype=np.float64)
        step = np.concatenate([piece.step for piece in pieces], dtype=np.float64)
        wall = np.concatenate([piece.wall for piece in pieces])
        recording.curves[tag] = Curve(step, value, wall)


READER = Reader(name="tensorboard", title="TensorBoard event file", sniff=sniff, read=read, rank=40)
