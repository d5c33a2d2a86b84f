"""W&B run files: a real one, every kind of record, damage."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.errors import InputError, UnreadableError
from firstbreak.readers.protocol import Options
from firstbreak.readers.wandb import READER, read, sniff
from firstbreak.runlog import Recording
from tests.unit.readers.event_writer import history, nested, number, wandb_file

LOGS = Path(__file__).parents[2] / "data" / "logs"
REAL = next((LOGS / "wandb_offline").rglob("*.wandb"))


def read_bytes(folder: Path, data: bytes) -> Recording:
    path = folder / "run-abc.wandb"
    path.write_bytes(data)
    return read(path, Options())


def said(recording: Recording) -> str:
    return "\n".join(map(str, recording.problems))


def test_real_run() -> None:
    recording = read(REAL, Options())
    assert sniff(REAL) == 1.0
    assert recording.problems == []
    assert recording.config == {"learning_rate": 0.00025, "seed": 1, "env": "CartPole-v1"}
    assert recording.ended == "finished"
    assert recording.run_name == "9e4w9d62"
    curve = recording.curves["global_step"]
    assert len(curve) == 526
    np.testing.assert_array_equal(curve.step, np.arange(526))
    assert curve.value[[0, 1, -1]].tolist() == [60.0, 108.0, 25600.0]
    assert curve.wall is not None
    assert abs(curve.wall[0] - 1795205947.07) < 0.01
    assert len(recording.curves["losses/approx_kl"]) == 50
    assert recording.curves["losses/approx_kl"].step[0] == 21.0
    assert not {"_step", "_timestamp", "_runtime"} & set(recording.curves)
    assert recording.curves["system.memory_percent"].value.tolist() == [3.8167901821140515]


def test_real_run_agrees_with_the_same_training_in_trackio() -> None:
    from firstbreak.readers import trackio

    mine, other = read(REAL, Options()), trackio.read(LOGS / "trackio" / "feas.db", Options())
    for key in ("charts/episodic_return", "losses/entropy", "losses/value_loss"):
        np.testing.assert_array_equal(mine.curves[key].step, other.curves[key].step)
        np.testing.assert_array_equal(mine.curves[key].value, other.curves[key].value)


def test_values_of_every_kind(tmp_path: Path) -> None:
    items = {
        "nan": "NaN",
        "quoted": '"NaN"',
        "big": "1e999",
        "inf": '"-Infinity"',
        "flag": "true",
        "nothing": "null",
        "words": '"hello"',
        "dict": '{"a": 1, "b": {"c": 2.5}}',
        "histogram": '{"_type": "histogram", "values": [1], "bins": [0, 1]}',
        "list": "[1, 2]",
        "broken": "{",
        "long" * 40: "1.25",
        "_step": "12",
        "_timestamp": "1700000000.5",
    }
    recording = read_bytes(tmp_path, wandb_file([history(3, items)]))
    values = {key: curve.value[0] for key, curve in recording.curves.items()}
    assert values.pop("nan") != values.pop("quoted")
    assert values == {"big": math.inf, "inf": -math.inf, "flag": 1, "dict.a": 1, "dict.b.c": 2.5, "long" * 40: 1.25}
    assert recording.curves["flag"].step.tolist() == [12.0]
    assert recording.curves["flag"].wall is not None
    assert recording.texts == {"words": "hello"}
    assert "'histogram' under 1 keys" in said(recording)
    assert "1 values are not JSON" in said(recording)
    assert "'list'" in said(recording)


def test_nested_keys_and_media_written_in_parts(tmp_path: Path) -> None:
    def item(*names: str, value: str) -> bytes:
        return nested(1, *(nested(2, name) for name in names), nested(16, value))

    parts = [
        item("a", "b", value="2"),
        item("h", "_type", value='"image-file"'),
        item("h", "size", value="77"),
        nested(1, nested(1, "typed"), b"\x31" + struct.pack("<d", 0.5)),
        nested(1, nested(1, "count"), number(5, 7)),
    ]
    recording = read_bytes(tmp_path, wandb_file([nested(2, *parts, nested(2, number(1, 4)))]))
    found = {key: (curve.step[0], curve.value[0]) for key, curve in recording.curves.items()}
    assert found == {"a.b": (4.0, 2.0), "typed": (4.0, 0.5), "count": (4.0, -4.0)}
    assert "'image-file' under 1 keys were not read: h." in said(recording)


def config_item(key: str, value: object) -> bytes:
    return nested(1, nested(1, key), nested(16, json.dumps(value)))


def test_run_config_alert_and_failed_exit(tmp_path: Path) -> None:
    run = nested(
        17,
        nested(1, "id1"),
        nested(8, "warm sun"),
        nested(4, config_item("lr", 0.1), config_item("gone", 1), config_item("_wandb", {})),
        nested(17, number(1, 1000)),
        number(18, 1),
        number(14, 50),
    )
    late = nested(5, config_item("late", [1]), nested(2, nested(1, "gone")))
    rows = [history(51, {"x": "1", "_runtime": "2"}), nested(10, nested(1, "KL"), nested(2, "too high"))]
    stats = nested(7, nested(2, number(1, 1003)), nested(3, nested(1, "gpu.0.gpu"), nested(16, "99")))
    recording = read_bytes(tmp_path, wandb_file([run, late, *rows, stats, nested(18, number(1, 255))]))
    assert recording.run_name == "warm sun"
    assert recording.config == {"lr": 0.1, "late": [1]}
    assert recording.ended == "crashed"
    assert [(e.name, e.at, e.text) for e in recording.events] == [
        ("resume", 50.0, ""),
        ("alert", 51.0, "KL: too high"),
        ("end", 51.0, "exit code 255"),
    ]
    assert recording.curves["x"].wall is not None
    assert recording.curves["x"].wall.tolist() == [1002.0]
    gpu = recording.curves["system.gpu.0.gpu"]
    assert (gpu.step.tolist(), gpu.value.tolist()) == ([51.0], [99.0])


def rows(count: int) -> list[bytes]:
    return [history(step, {"loss": str(float(step)), "pad": '"' + "x" * 500 + '"'}) for step in range(count)]


def test_records_that_span_blocks(tmp_path: Path) -> None:
    long = history(300, {"loss": "300.0", "note": json.dumps("y" * 100_000)})
    recording = read_bytes(tmp_path, wandb_file([*rows(300), long]))
    assert recording.problems == []
    assert recording.curves["loss"].value.tolist() == list(range(301))
    assert len(recording.texts["note"]) == 100_000


def test_cut_off_tail(tmp_path: Path) -> None:
    data = wandb_file(rows(300))
    for cut in (1, 100, 570):
        recording = read_bytes(tmp_path, data[:-cut])
        assert "still being written or cut off" in said(recording)
        assert recording.curves["loss"].value.tolist() == list(range(300 - 1 - (cut > 560)))


def test_damage_costs_its_block_only(tmp_path: Path) -> None:
    data = bytearray(wandb_file(rows(300)))
    data[40_000] ^= 0xFF
    recording = read_bytes(tmp_path, bytes(data))
    assert "damaged pieces were skipped" in said(recording)
    values = recording.curves["loss"].value
    assert 230 < values.size < 300
    assert values[-1] == 299.0


def test_nothing_usable(tmp_path: Path) -> None:
    for data in (b"", b":W", b"something else entirely"):
        with pytest.raises(InputError, match="does not begin with"):
            read_bytes(tmp_path, data)
    with pytest.raises(UnreadableError):
        read(tmp_path / "missing.wandb", Options())
    with pytest.raises(UnreadableError):
        read(tmp_path, Options())
    assert "no metric" in said(read_bytes(tmp_path, b":W&B\xe1\xbe\x00"))
    assert sniff(tmp_path) == sniff(tmp_path / "missing.wandb") == 0.0
    assert READER.name == "wandb"


SOURCE = wandb_file(rows(80))


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(7, len(SOURCE) - 1), st.integers(1, 255)), max_size=5),
    st.integers(7, len(SOURCE)),
    st.binary(max_size=30),
)
def test_damaged_files_yield_only_true_points(
    tmp_path_factory: pytest.TempPathFactory, flips: list[tuple[int, int]], at: int, extra: bytes
) -> None:
    data = bytearray(SOURCE)
    for place, bits in flips:
        data[place] ^= bits
    data[at:at] = extra
    recording = read_bytes(tmp_path_factory.getbasetemp(), bytes(data))
    curve = recording.curves.get("loss")
    if curve is not None:
        np.testing.assert_array_equal(curve.value, curve.step)


RECORDS = [history(3, {"a": "1", "b": '{"c": 2}'}), nested(17, nested(4, config_item("lr", 1)), number(18, 1))]


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from(RECORDS),
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, 255)), max_size=6),
    st.binary(max_size=60),
)
def test_malformed_records_with_right_checksums(
    tmp_path_factory: pytest.TempPathFactory, record: bytes, changes: list[tuple[int, int]], other: bytes
) -> None:
    data = bytearray(record)
    for place, byte in changes:
        data[place % len(data)] = byte
    recording = read_bytes(tmp_path_factory.getbasetemp(), wandb_file([bytes(data), other, history(9, {"z": "5"})]))
    assert recording.curves["z"].value[-1] == 5.0
