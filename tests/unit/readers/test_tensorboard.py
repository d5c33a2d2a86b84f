"""Event files: every encoding, the vectorised way against the careful one, damage, and TensorBoard's own reader."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np
import pytest

from firstbreak.readers import tfevents
from firstbreak.readers.protocol import Options
from firstbreak.readers.tensorboard import read, read_many, sniff
from firstbreak.runlog import Recording
from tests.unit.readers.event_writer import (
    ENCODINGS,
    WHOLE,
    event,
    framed,
    metadata,
    nested,
    number,
    opening,
    scalar_file,
    simple,
    tensor,
)

LOGS = Path(__file__).parents[2] / "data" / "logs"
REAL = sorted(path for path in LOGS.rglob("*.tfevents.*") if path.stat().st_size <= 90_000)


def write(folder: Path, data: bytes) -> Path:
    path = folder / "events.out.tfevents.1700000000.host.1.0"
    path.write_bytes(data)
    return path


def said(recording: Recording) -> str:
    return "\n".join(map(str, recording.problems))


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tfevents.Framer.__init__, "__defaults__", (1 << 12, *tfevents.Framer.__init__.__defaults__[1:]))


@pytest.mark.parametrize("path", REAL, ids=lambda p: p.parent.name + p.name[-8:])
def test_real_files_agree_with_tensorboard(path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    theirs = EventAccumulator(str(path), size_guidance={"scalars": 0})
    theirs.Reload()
    ours = read(path, Options(verify=True))
    assert ours.problems == []
    assert sorted(ours.curves) == sorted(theirs.Tags()["scalars"])
    assert ours.curves
    for tag, curve in ours.curves.items():
        events = theirs.Scalars(tag)
        np.testing.assert_array_equal(curve.value, [e.value for e in events])
        np.testing.assert_array_equal(curve.step, [e.step for e in events])
        np.testing.assert_array_equal(curve.wall, [e.wall_time for e in events])


def test_there_are_real_files() -> None:
    assert len(REAL) >= 3


def test_cleanrl_hyperparameters_become_config() -> None:
    path = next((LOGS / "cleanrl_tb").rglob("*.tfevents.*"))
    recording = read(path, Options())
    assert recording.config == {"learning_rate": 0.00025, "seed": 1}
    assert recording.texts["hyperparameters/text_summary"].startswith("|param|value|")
    assert sniff(path) == 1.0


def test_bulk_decoding_keeps_file_order_over_varint_widths(tmp_path: Path, small_blocks: None) -> None:
    rng = np.random.default_rng(1)
    tags = ["a", "b/loss", "b/gain", "charts/episodic_return", "losses/ä" + "x" * 150]
    steps = [0, 1, 2, *range(100, 140), *range(16_370, 16_400), 5, 5, 4, -1, 2**40, 2**62]
    rows = [(tag, s, float(np.float32(rng.normal()))) for s in steps for tag in tags if rng.random() < 0.8]
    recording = read(write(tmp_path, scalar_file(rows)), Options())
    assert recording.problems == []
    for tag in tags:
        mine = [(i, row) for i, row in enumerate(rows) if row[0] == tag]
        curve = recording.curves[tag]
        np.testing.assert_array_equal(curve.step, [float(row[1]) for _, row in mine])
        np.testing.assert_array_equal(curve.value, [row[2] for _, row in mine])
        np.testing.assert_array_equal(curve.wall, [1000.0 + i for i, _ in mine])


def test_nonfinite_values_are_kept(tmp_path: Path) -> None:
    rows = [("x", i, v) for i, v in enumerate([math.nan, math.inf, -math.inf, 0.0] * 5)]
    curve = read(write(tmp_path, scalar_file(rows)), Options()).curves["x"]
    np.testing.assert_array_equal(curve.value, [r[2] for r in rows])


@pytest.mark.parametrize(("name", "expected"), [*((n, 2.5) for n in ENCODINGS), *((n, -3.0) for n in WHOLE)])
@pytest.mark.parametrize("count", [1, 30])
def test_tensor_scalars(tmp_path: Path, name: str, expected: float, count: int) -> None:
    value = nested(1, "loss") + (ENCODINGS | WHOLE)[name] + metadata("scalars")
    data = opening() + b"".join(framed(event(float(i), i, value)) for i in range(count))
    recording = read(write(tmp_path, data), Options())
    assert recording.problems == []
    assert recording.curves["loss"].value.tolist() == [expected] * count
    assert recording.curves["loss"].step.tolist() == list(range(count))


def test_written_by_tensorboards_own_summaries(tmp_path: Path) -> None:
    from tensorboard.compat.proto import event_pb2
    from tensorboard.plugins.histogram.summary_v2 import histogram_pb
    from tensorboard.plugins.scalar.summary_v2 import scalar_pb
    from tensorboard.plugins.text.summary_v2 import text_pb

    data = opening()
    for step in range(20):
        for summary in (
            scalar_pb("a/loss", step / 3),
            histogram_pb("weights", np.arange(step + 2.0)),
            text_pb("note", f"at {step}"),
        ):
            data += framed(event_pb2.Event(wall_time=step, step=step, summary=summary).SerializeToString())
    recording = read(write(tmp_path, data), Options())
    np.testing.assert_allclose(recording.curves["a/loss"].value, np.arange(20) / 3, rtol=1e-6)
    assert list(recording.curves) == ["a/loss"]
    assert recording.texts == {"note": "at 19"}
    assert "1 histogram tag was not read: weights." in said(recording)


def test_several_values_in_one_event_and_other_kinds(tmp_path: Path) -> None:
    picture = nested(1, "picture") + nested(4, bytes(3000))
    records = [framed(event(1.0, i, simple("a", 1.0), simple("b", float(i)), picture)) for i in range(20)]
    records += [framed(event(1.0, i, nested(1, "bins") + nested(5, bytes(50)))) for i in range(20)]
    recording = read(write(tmp_path, opening() + b"".join(records)), Options())
    assert recording.curves["b"].value.tolist() == list(range(20))
    assert "1 image tag was not read: picture." in said(recording)
    assert "1 histogram tag was not read: bins." in said(recording)


def test_hparams_plugin_and_json_arguments(tmp_path: Path) -> None:
    entry = nested(1, nested(1, "lr"), nested(2, b"\x09" + struct.pack("<d", 0.5)))
    flag = nested(1, nested(1, "norm"), nested(2, b"\x18\x01"))
    start = nested(9, nested(1, nested(1, "hparams"), nested(2, nested(3, entry, flag))))
    end = nested(9, nested(1, nested(1, "hparams"), nested(2, nested(4, number(1, 2)))))
    args = nested(1, "args/text_summary") + tensor(7, nested(8, '{"beta": 0.04}')) + metadata("text")
    values = [nested(1, "_hparams_/session_start_info") + start, nested(1, "_hparams_/session_end_info") + end, args]
    data = scalar_file([("x", 0, 1.0)]) + b"".join(framed(event(1.0, 0, value)) for value in values)
    recording = read(write(tmp_path, data), Options())
    assert recording.config == {"lr": 0.5, "norm": True, "beta": 0.04}
    assert recording.ended == "crashed"


def test_tag_that_is_not_utf8(tmp_path: Path) -> None:
    value = nested(1, b"lo\xff\xfess") + b"\x15" + struct.pack("<f", 1.0)
    data = b"".join(framed(event(1.0, i, value)) for i in range(20))
    assert len(read(write(tmp_path, data), Options()).curves["lo��ss"]) == 20


def test_read_many_joins_in_order(tmp_path: Path) -> None:
    first, second = tmp_path / "1.tfevents.1", tmp_path / "2.tfevents.2"
    first.write_bytes(scalar_file([("x", 1, 1.0), ("x", 2, 2.0)]))
    second.write_bytes(scalar_file([("x", 2, 3.0)]))
    assert read_many([first, second], Options()).curves["x"].value.tolist() == [1.0, 2.0, 3.0]
