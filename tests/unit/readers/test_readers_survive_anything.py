"""Whatever the bytes, a reader raises `InputError` or `UnreadableError`, or returns finite shapes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.errors import InputError, UnreadableError
from firstbreak.readers.protocol import Options
from firstbreak.readers.registry import all_readers, reader_named

LOGS = Path(__file__).parents[2] / "data" / "logs"
SEEDS = {
    "table": ("m.csv", b"step,loss,kl\n1,0.5,nan\n2,,inf\n"),
    "jsonl": ("m.jsonl", b'{"step": 1, "a": {"b": 0.5}}\n{"step": 2, "a": null, "c": [1, "x"]}\n'),
    "sb3": ("progress.csv", (LOGS / "sb3_fixtures/sb3_ppo/progress.csv").read_bytes()),
    "sb3_monitor": ("0.monitor.csv", (LOGS / "sb3_fixtures/sb3_sac/0.monitor.csv").read_bytes()),
    "sb3_eval": ("evaluations.npz", (LOGS / "sb3_fixtures/sb3_ppo/evaluations.npz").read_bytes()),
    "rllib": ("result.json", b'{"training_iteration": 1, "timesteps_total": 5, "x": {"y": NaN}, "config": {"a": 1}}\n'),
    "json_document": ("m.json", b'[{"step": 1, "a": {"b": 0.5}}, {"step": 2, "a": null, "c": [1, "x"]}]'),
    "trainer_state": ("trainer_state.json", b'{"log_history": [{"step": 1, "loss": 0.5}], "max_steps": 3}'),
    "console": (
        "a.log",
        b"step:1 - a:0.5 - b:nan\n{'loss': 1.0}\n Learning iteration 1/2 \n x: 5\n---\n| a/ | |\n| b | 1 |\n---\n",
    ),
    "parquet": ("m.parquet", b"PAR1\x15\x04\x15\x10PAR1"),
}


def check(name: str, data: bytes) -> None:
    reader = reader_named(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / SEEDS[name][0]
        path.write_bytes(data)
        assert 0.0 <= reader.sniff(path) <= 1.0
        try:
            found = reader.read(path, Options())
        except (InputError, UnreadableError):
            return
    assert found.curves
    for curve in found.curves.values():
        assert curve.step.shape == curve.value.shape
        assert curve.step.dtype == np.float64


@pytest.mark.parametrize("name", SEEDS)
@settings(max_examples=40, deadline=None)
@given(data=st.binary(max_size=300))
def test_rubbish(name: str, data: bytes) -> None:
    check(name, data)


@pytest.mark.parametrize("name", SEEDS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damaged_logs(name: str, data: st.DataObject) -> None:
    seed = bytearray(SEEDS[name][1])
    for _ in range(data.draw(st.integers(1, 4))):
        lo = data.draw(st.integers(0, len(seed)))
        hi = data.draw(st.integers(lo, min(len(seed), lo + 40)))
        seed[lo:hi] = data.draw(
            st.one_of(st.binary(max_size=12), st.sampled_from([b"", b"nan", b"1e999", b'"', b"\n"]))
        )
    check(name, bytes(seed))


def test_every_reader_survives_a_folder_and_nothing(tmp_path: Path) -> None:
    for reader in all_readers():
        for path in (tmp_path, tmp_path / "missing"):
            assert reader.sniff(path) == 0.0
            with pytest.raises((InputError, UnreadableError)):
                reader.read(path, Options())
