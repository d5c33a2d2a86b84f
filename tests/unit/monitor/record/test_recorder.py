"""What the recorder writes: lines that strict JSON reads, rows that come back as they were given."""

from __future__ import annotations

import json
import math
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.finding import Component, Finding, Link, Onset, Severity
from firstbreak.loading import load
from firstbreak.monitor.record import Recorder, recorder
from firstbreak.monitor.record.lines import RowWriter, body
from firstbreak.monitor.verdict import Action, Alarm
from firstbreak.readers.protocol import Options
from firstbreak.readers.record import read
from firstbreak.readers.record_line import seal, unseal


def strict(line: bytes) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(line, parse_constant=refuse)


def lines_of(folder: Path) -> list[Any]:
    parts = sorted((folder / "firstbreak").iterdir())
    return [strict(line) for part in parts for line in part.read_bytes().splitlines()]


FINDING = Finding(
    rule="POL001",
    name="kl-overshoot",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    onset=Onset(3, 4, "updates"),
    message="KL is 35 nats",
    metric="policy/kl_old",
    evidence={"kl_nats": math.inf},
)


KINDS = ["start", "config", "metrics", "event", "finding", "alarm", "rollout", "batch"]


def test_every_kind_of_line_is_strict_json_with_a_sequence_number(tmp_path: Path) -> None:
    kept = Recorder(tmp_path, run="mine", framework="trl", algorithm="GRPO", clock="updates", now=lambda: 12.5)
    kept.config({"gamma": 0.9, "nested": {"path": Path("x"), "bad": math.nan}, "list": [1, np.float32(2.5), {3}]})
    assert kept.metrics({"loss": 1.5, "kl": math.nan, "up": math.inf, "down": -math.inf}, 1, 100.0) == 2
    kept.event("eval", 1, "text \u2028 with \udcff odd letters\n")
    kept.finding(FINDING)
    kept.alarm(Alarm(FINDING, at=4, row=4, wall=1.0, action=Action.STOP_UPDATE, cause="step-too-large"))
    kept.rollout([3, 4], 1, 4)
    kept.batch("abc", 1)
    kept.close()
    lines = lines_of(tmp_path)
    assert [line["seq"] for line in lines] == list(range(8))
    assert [line["kind"] for line in lines] == KINDS
    head, config, metrics, _, finding, alarm, rollout, _ = lines
    assert (head["run"], head["framework"], head["algorithm"], head["clock"]) == ("mine", "trl", "GRPO", "updates")
    assert (head["rank"], head["wall"]) == (None, 12.5)
    assert config["config"] == {"gamma": 0.9, "nested": {"path": "x", "bad": "nan"}, "list": [1, 2.5, "{3}"]}
    assert metrics["metrics"] == {"loss": 1.5, "kl": "nan", "up": "inf", "down": "-inf"}
    assert finding["finding"]["evidence"] == {"kl_nats": "inf"}
    assert (alarm["action"], alarm["finding"]["name"]) == ("stop_update", "kl-overshoot")
    assert rollout["versions"] == [3, 4]


ROWS = st.dictionaries(
    st.text(max_size=12),
    st.one_of(st.floats(), st.integers(), st.booleans(), st.floats(width=32).map(np.float32)),
    max_size=6,
)


@given(rows=st.lists(ROWS, max_size=4), step=st.floats(), wall=st.floats())
def test_a_row_comes_back_exactly(rows: list[dict[str, Any]], step: float, wall: float) -> None:
    writer = RowWriter()
    for seq, row in enumerate(rows):
        line = seal(writer.body(seq, row, step, wall, "updates"))
        assert line.count(b"\n") == 1
        back = unseal(line)
        assert back is not None
        assert {**back, "crc": strict(line)["crc"]} == strict(line)
        np.testing.assert_array_equal(float(back["step"]), step)
        assert list(back["metrics"]) == list(row)
        for given_value, value in zip(row.values(), back["metrics"].values(), strict=True):
            np.testing.assert_array_equal(float(value), float(given_value))
    assert writer.dropped == 0


class Spiteful:
    def __float__(self) -> float:
        raise RuntimeError("no")

    def __str__(self) -> str:
        raise RuntimeError("no")


def test_what_is_no_number_is_left_out_and_counted(tmp_path: Path) -> None:
    kept = Recorder(tmp_path)
    odd: dict[Any, Any] = {
        "text": "0.5",
        "none": None,
        "list": [1.0],
        "array": np.ones(3),
        "bytes": b"1",
        "object": Spiteful(),
        "zero-dimensional": np.array(2.0),
        "decimal": Decimal("1.5"),
        "huge": 10**400,
        7: 1,
        "100 %d": True,
    }
    kept.metrics(odd, 0)
    kept.config({"odd": Spiteful(), "huge": 10**5000})
    kept.close()
    _, row, config = lines_of(tmp_path)
    assert row["metrics"] == {"zero-dimensional": 2, "decimal": 1.5, "huge": "inf", "7": 1, "100 %d": 1}
    assert kept.dropped == 6
    assert config["config"] == {"odd": "(RuntimeError in Spiteful)", "huge": "inf"}


def test_settings_nested_without_end_are_cut(tmp_path: Path) -> None:
    endless: dict[str, Any] = {}
    endless["again"] = endless
    kept = Recorder(tmp_path)
    kept.config(endless)
    kept.close()
    assert len(json.dumps(lines_of(tmp_path)[1])) < 100_000


def test_ten_thousand_metrics_in_one_row(tmp_path: Path) -> None:
    kept = Recorder(tmp_path, clock="updates")
    for step in range(3):
        kept.metrics({f"layer{i}/grad_norm": i + step for i in range(10_000)}, step)
    kept.close()
    assert kept.path is None
    curves = read(tmp_path / "firstbreak/record-0-00001.jsonl", Options()).curves
    assert len(curves) == 10_000
    assert curves["layer9999/grad_norm"].value.tolist() == [9999, 10_000, 10_001]


def test_nan_everywhere_is_kept(tmp_path: Path) -> None:
    kept = Recorder(tmp_path, algorithm="PPO", clock="updates")
    for step in range(5):
        kept.metrics({"critic/loss": math.nan, "policy/loss": math.nan}, step)
    kept.close()
    log = load(tmp_path)
    assert {s.metric: np.isnan(s.value).tolist() for s in log.series} == {
        "critic/loss": [True] * 5,
        "policy/loss": [True] * 5,
    }


def test_nothing_is_opened_before_the_first_line(tmp_path: Path) -> None:
    kept = Recorder(tmp_path)
    kept.close()
    kept.flush()
    assert list(tmp_path.iterdir()) == []
    assert kept.path is None


def test_buffered_lines_are_written_when_the_buffer_is_full_flushed_or_closed(tmp_path: Path) -> None:
    kept = Recorder(tmp_path, buffer_rows=3)
    for step in range(4):
        kept.metrics({"x": step}, step)
    assert len(lines_of(tmp_path)) == 1 + 3
    assert kept.flush()
    assert len(lines_of(tmp_path)) == 1 + 4
    kept.metrics({"x": 5}, 5)
    kept.close()
    kept.close()
    assert len(lines_of(tmp_path)) == 1 + 5


def test_a_closed_recorder_goes_on_in_a_new_part(tmp_path: Path) -> None:
    kept = Recorder(tmp_path, clock="updates")
    kept.metrics({"loss": 1}, 1)
    kept.close()
    kept.metrics({"loss": 2}, 2)
    kept.close()
    assert sorted(p.name for p in (tmp_path / "firstbreak").iterdir()) == [
        "record-0-00001.jsonl",
        "record-0-00002.jsonl",
    ]
    log = load(tmp_path)
    assert log.provenance.problems == ()
    assert log.events == ()


def test_a_large_part_is_followed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firstbreak.monitor.record.store.MAX_PART_BYTES", 2000)
    kept = Recorder(tmp_path, clock="updates")
    for step in range(100):
        kept.metrics({"loss": step / 7}, step)
    kept.close()
    assert len(list((tmp_path / "firstbreak").iterdir())) > 3
    log = load(tmp_path)
    assert log.get("optim/loss_total") is not None
    assert log.events == ()
    assert log.provenance.problems == ()


def test_a_pickled_recorder_writes_a_part_of_its_own(tmp_path: Path) -> None:
    kept = Recorder(tmp_path, rank=2, buffer_rows=10)
    kept.metrics({"x": 1}, 1)
    other = pickle.loads(pickle.dumps(kept))
    other.metrics({"x": 2}, 2)
    other.close()
    kept.close()
    assert [line.get("step") for line in lines_of(tmp_path)] == [None, 2, None, 1]
    assert [line["rank"] for line in lines_of(tmp_path) if line["kind"] == "start"] == [2, 2]


def test_the_size_of_a_row_is_as_stated() -> None:
    row = {f"train/some_metric_{i:02d}": math.pi * 10.0**-i for i in range(30)}
    size = len(seal(RowWriter().body(123_456, row, 1_000_000, 1.7e9 + 0.123, "")))
    assert 1000 < size < 1600
    assert "1.3 kB" in (recorder.Recorder.__doc__ or "")


def test_a_line_of_a_kind_has_its_fields_after_number_and_kind() -> None:
    assert body(3, "event", {"a": 1}) == b'{"seq":3,"kind":"event","a":1'
