"""Seeds, normalisers and versions that evaluation shares with training, or should."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.errors import InputError
from firstbreak.evaluation.normaliser import Statistics, compare_normalisers, from_log, read_statistics
from firstbreak.evaluation.seeds import seeds_of, shared_seeds
from firstbreak.evaluation.versions import environment_mismatch, installed, mismatches, versions_in


@given(st.sets(st.integers(0, 40), min_size=1), st.sets(st.integers(0, 40), min_size=1), st.integers(1, 4))
def test_shared_seeds_are_those_of_sets(train: set[int], held: set[int], copies: int) -> None:
    spread = {s + i for s in train for i in range(copies)}
    found = shared_seeds(seeds_of(",".join(map(str, train)), environments=copies), held)
    assert found.shared == len(spread & held)
    assert found.train == len(spread)
    assert set(found.examples) <= spread & held


def test_seeds_are_read_from_ranges_and_files(tmp_path: Path) -> None:
    assert seeds_of("0-3, 9") == {0, 1, 2, 3, 9}
    (tmp_path / "e.csv").write_text("env_seed,return\n5,1\n7,2\n")
    assert seeds_of(str(tmp_path / "e.csv")) == {5, 7}
    (tmp_path / "n.csv").write_text("return\n1\n")
    for bad in ("", "a", "5-2", "-3", str(tmp_path / "n.csv"), "0-99999999999"):
        with pytest.raises(InputError):
            seeds_of(bad)
    with pytest.raises(InputError):
        shared_seeds([1], [])


def statistics(shift: float = 0.0, scale: float = 1.0) -> Statistics:
    return Statistics(np.array([1.0, 2.0]) + shift, np.array([2.0, 4.0]) * scale, 100.0)


@pytest.mark.parametrize(
    ("other", "outcome"),
    [
        (statistics(), "same"),
        (statistics(1e-7), "same"),
        (statistics(0.05), "drifted"),
        (statistics(scale=1.05), "drifted"),
        (statistics(1.0), "different"),
        (statistics(scale=0.8), "different"),
        (Statistics(np.zeros(2), np.ones(2)), "untouched"),
    ],
)
def test_normalisers_are_told_apart(other: Statistics, outcome: str) -> None:
    assert compare_normalisers(statistics(), other).outcome == outcome


def test_the_worst_dimension_is_named() -> None:
    found = compare_normalisers(statistics(), Statistics(np.array([1.0, 4.0]), np.array([2.0, 4.0])))
    assert (found.dimension, found.shift) == (1, pytest.approx(0.5))
    with pytest.raises(InputError, match="2 numbers, evaluation 3"):
        compare_normalisers(statistics(), Statistics(np.zeros(3), np.ones(3)))


def test_statistics_are_read_and_pickles_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"obs_rms": {"mean": [1, 2], "var": [4, 16], "count": 100}}))
    np.savez(tmp_path / "a.npz", running_mean=[1, 2], running_var=[4, 16])
    for name in ("a.json", "a.npz"):
        assert compare_normalisers(statistics(), read_statistics(tmp_path / name)).outcome == "same"
    (tmp_path / "v.pkl").write_bytes(b"cos\nsystem\n(S'exit 1'\ntR.")
    with pytest.raises(InputError, match="pickle"):
        read_statistics(tmp_path / "v.pkl")
    for text in (
        "[1]",
        "{}",
        '{"mean": [1], "var": [1, 2]}',
        '{"mean": [1], "var": [-1]}',
        "nonsense",
        '{"mean": "x"}',
    ):
        (tmp_path / "b.json").write_text(text)
        with pytest.raises(InputError):
            read_statistics(tmp_path / "b.json")


def test_a_log_may_hold_both(tmp_path: Path) -> None:
    rows = [{"rollout/obs_mean": 0.0, "rollout/obs_std": 1.0, "eval/obs_mean": 0.0, "eval/obs_std": 1.0},
            {"rollout/obs_mean": 3.0, "rollout/obs_std": 2.0}]  # fmt: skip
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    assert compare_normalisers(*from_log(tmp_path / "log.jsonl")).outcome == "untouched"
    (tmp_path / "log.jsonl").write_text(json.dumps({"train/obs_mean": 1.0}) + "\n")
    with pytest.raises(InputError, match="in this log"):
        from_log(tmp_path / "log.jsonl")


def test_versions_are_compared() -> None:
    wanted = versions_in("numpy==0.0.1, Gymnasium 1.2.0; no_such_thing v3")
    assert wanted == {"numpy": "0.0.1", "gymnasium": "1.2.0", "no-such-thing": "3"}
    found = {m.name: m.found for m in mismatches(wanted, installed(wanted))}
    assert found["numpy"] == metadata.version("numpy")
    assert found["no-such-thing"] == "not installed"
    assert mismatches({"numpy": metadata.version("numpy")}, installed(["numpy"])) == []
    assert environment_mismatch("Ant-v4", "Ant-v5") == "version"
    assert environment_mismatch("Ant-v4", "Hopper-v4") == "name"
    assert environment_mismatch("Ant-v4", "Ant-v4") == ""
