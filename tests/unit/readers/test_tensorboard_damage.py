"""Event files that are cut off, damaged or not event files at all."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.errors import InputError, UnreadableError
from firstbreak.readers import tfevents
from firstbreak.readers.crc32c import masked_length
from firstbreak.readers.protocol import Options
from firstbreak.readers.tensorboard import READER, read, sniff
from firstbreak.runlog import Recording
from tests.unit.readers.event_writer import ENCODINGS, WHOLE, event, framed, metadata, nested, opening, scalar_file


def write(folder: Path, data: bytes) -> Path:
    path = folder / "events.out.tfevents.1700000000.host.1.0"
    path.write_bytes(data)
    return path


def said(recording: Recording) -> str:
    return "\n".join(map(str, recording.problems))


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tfevents.Framer.__init__, "__defaults__", (1 << 12, *tfevents.Framer.__init__.__defaults__[1:]))


ROWS = [(tag, step, float(step)) for step in range(300) for tag in ("a/one", "b/three")]


def test_cut_off_tail_keeps_everything_before(tmp_path: Path) -> None:
    whole = scalar_file(ROWS)
    for cut in (1, 5, 20, 40):
        recording = read(write(tmp_path, whole[:-cut]), Options())
        assert recording.points == len(ROWS) - 1
        assert "still being written or cut off" in said(recording)


@pytest.mark.parametrize("where", ["length", "length checksum", "data"])
def test_damage_in_the_middle_costs_one_record(tmp_path: Path, where: str, small_blocks: None) -> None:
    begin = len(scalar_file(ROWS[:200]))
    offset = {"length": begin + 1, "length checksum": begin + 9, "data": begin + 30}[where]
    data = bytearray(scalar_file(ROWS))
    data[offset] ^= 0x40
    recording = read(write(tmp_path, bytes(data)), Options())
    assert recording.points == len(ROWS) - 1
    assert f"byte {begin}" in said(recording) or f"byte {begin + 12}" in said(recording)


def test_damaged_number_is_left_out_without_being_asked_for(tmp_path: Path) -> None:
    data = bytearray(scalar_file(ROWS))
    data[-6] ^= 0x01  # a bit of the last value
    recording = read(write(tmp_path, bytes(data)), Options())
    assert recording.points == len(ROWS) - 1
    assert "1 records with a wrong data checksum" in said(recording)


def test_inserted_rubbish_is_skipped(tmp_path: Path) -> None:
    data = scalar_file(ROWS[:300]) + bytes(5000) + b"\x07rubbish" * 900 + scalar_file(ROWS[300:])
    recording = read(write(tmp_path, data), Options())
    assert recording.points == len(ROWS)
    assert "12200 bytes in 1 stretches" in said(recording)


def test_huge_length_allocates_nothing_by_it(tmp_path: Path) -> None:
    length = 1 << 42
    head = struct.pack("<QI", length, masked_length(length))
    path = write(tmp_path, scalar_file(ROWS) + head + bytes(100_000))
    tracemalloc.start()
    try:
        recording = read(path, Options())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert recording.points == len(ROWS)
    assert "still being written or cut off" in said(recording)
    assert peak < 4 * tfevents.BLOCK_BYTES


def test_record_longer_than_a_block_is_stepped_over(tmp_path: Path, small_blocks: None) -> None:
    graph = framed(nested(4, bytes(30_000)))
    recording = read(write(tmp_path, scalar_file(ROWS[:50]) + graph + scalar_file(ROWS[50:])), Options())
    assert recording.points == len(ROWS)
    assert "1 records longer than a block" in said(recording)


def test_progress_reaches_the_end(tmp_path: Path, small_blocks: None) -> None:
    heard: list[tuple[int, int]] = []
    path = write(tmp_path, scalar_file(ROWS))
    read(path, Options(progress=lambda done, total: heard.append((done, total))))
    assert heard[-1] == (path.stat().st_size, path.stat().st_size)
    assert heard == sorted(heard)
    assert len(heard) > 3


def test_files_with_nothing_usable(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is empty"):
        read(write(tmp_path, b""), Options())
    with pytest.raises(InputError, match="not an event file"):
        read(write(tmp_path, b"hello, world. " * 100), Options())
    with pytest.raises(UnreadableError):
        read(tmp_path / "missing", Options())
    with pytest.raises(UnreadableError):
        read(tmp_path, Options())
    assert "no scalar metric" in said(read(write(tmp_path, opening()), Options()))


def test_sniff(tmp_path: Path) -> None:
    assert sniff(write(tmp_path, b"")) == 0.6
    other = tmp_path / "data.bin"
    other.write_bytes(b"not at all an event file")
    assert sniff(other) == 0.0
    other.write_bytes(scalar_file(ROWS[:1]))
    assert sniff(other) == 1.0
    assert sniff(tmp_path) == sniff(tmp_path / "missing") == 0.0
    assert READER.name == "tensorboard"


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=400), st.booleans())
def test_random_bytes_never_break_the_reader(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, frame: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "random.tfevents.1"
    path.write_bytes(opening() + framed(data) * 10 if frame else data)
    try:
        read(path, Options())
    except InputError:
        assert not frame


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from(sorted(ENCODINGS | WHOLE)),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=8),
    st.integers(0, 3),
)
def test_malformed_messages_with_right_checksums(
    tmp_path_factory: pytest.TempPathFactory, name: str, changes: list[tuple[int, int]], drop: int
) -> None:
    data = bytearray(event(1.0, 300, nested(1, "t") + metadata("scalars") + (ENCODINGS | WHOLE)[name]))
    for place, byte in changes:
        data[place % len(data)] = byte
    path = tmp_path_factory.getbasetemp() / "malformed.tfevents.1"
    path.write_bytes(opening() + framed(bytes(data[: len(data) - drop])) * 10)
    recording = read(path, Options())
    assert recording.points in {0, 10}
    assert recording.points or recording.problems


SOURCE = scalar_file([("a/one", s, 1.0 * s) for s in range(60)]) + b"".join(
    framed(event(1.0, 3, nested(1, "t") + value)) for value in (ENCODINGS | WHOLE).values()
)


@settings(deadline=None, max_examples=120)
@given(
    st.lists(st.tuples(st.integers(0, len(SOURCE) - 1), st.integers(1, 255)), max_size=6),
    st.integers(0, len(SOURCE)),
    st.binary(max_size=40),
    st.integers(0, len(SOURCE)),
)
def test_damaged_files_yield_only_true_points(
    tmp_path_factory: pytest.TempPathFactory, flips: list[tuple[int, int]], at: int, extra: bytes, end: int
) -> None:
    data = bytearray(SOURCE)
    for place, bits in flips:
        data[place] ^= bits
    data[at:at] = extra
    path = tmp_path_factory.getbasetemp() / "damaged.tfevents.1"
    path.write_bytes(bytes(data[:end]) if end < len(SOURCE) else bytes(data))
    try:
        recording = read(path, Options())
    except InputError:
        return
    curve = recording.curves.get("a/one")
    if curve is not None:
        np.testing.assert_array_equal(curve.value, curve.step)
        assert (np.diff(curve.step) > 0).all()
