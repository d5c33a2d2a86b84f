from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from firstbreak.errors import InputError, MissingExtraError
from firstbreak.readers import parquet, rllib, torchrl_csv
from firstbreak.readers.protocol import Options

LOGS = Path(__file__).parents[2] / "data" / "logs"


def test_a_real_rllib_run() -> None:
    path = LOGS / "rllib_ppo" / "result.json"
    assert rllib.sniff(path) == pytest.approx(0.95)
    found = rllib.read(path, Options())
    assert (found.framework, found.clock, found.ended) == ("rllib", "env_steps", "finished")
    curve = found.curves["env_runners/episode_return_mean"]
    assert curve.step[:3].tolist() == [2002, 4004, 6004]
    assert curve.value[0] == pytest.approx(19.45918367)
    assert curve.wall is not None
    assert found.config["gamma"] == 0.99
    assert not any(key.startswith("config/") for key in found.curves)


def test_rllib_without_environment_steps_counts_iterations(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text("".join(json.dumps({"training_iteration": i, "loss": i}) + "\n" for i in (1, 2)))
    found = rllib.read(path, Options())
    assert found.clock == "updates"
    assert found.curves["loss"].step.tolist() == [1, 2]


def test_rllib_without_a_result(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{"a": 1}\n')
    with pytest.raises(InputError):
        rllib.read(tmp_path / "result.json", Options())


def test_a_real_torchrl_run() -> None:
    folder = LOGS / "torchrl_ppo_pendulum" / "csv" / "scalars"
    assert torchrl_csv.sniff(folder) == pytest.approx(0.95)
    found = torchrl_csv.read(folder, Options())
    assert found.framework == "torchrl"
    assert found.curves["train/loss_critic"].step[:3].tolist() == [1000, 2000, 3000]


def test_torchrl_folder_with_damage(tmp_path: Path) -> None:
    folder = tmp_path / "scalars"
    shutil.copytree(LOGS / "torchrl_ppo_pendulum" / "csv" / "scalars", folder)
    (folder / "bad.csv").write_text("hello\n")
    (folder / "empty.csv").write_text("")
    (folder / "cut.csv").write_bytes(b"1,2\n2,")
    found = torchrl_csv.read(folder, Options())
    assert found.curves["cut"].step.tolist() == [1]
    assert any("bad.csv" in str(problem) for problem in found.problems)
    assert {"bad", "empty"}.isdisjoint(found.curves)


def test_torchrl_folder_without_numbers(tmp_path: Path) -> None:
    (tmp_path / "scalars").mkdir()
    assert torchrl_csv.sniff(tmp_path / "scalars") == 0.0
    with pytest.raises(InputError):
        torchrl_csv.read(tmp_path / "scalars", Options())


def parquet_file(path: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "step": [1, 2, 3],
            "loss": [1.0, None, float("nan")],
            "done": [True, False, True],
            "text": ["a", "b", "c"],
        }
    )
    pq.write_table(table, path)
    return path


def test_parquet(tmp_path: Path) -> None:
    path = parquet_file(tmp_path / "metrics.parquet")
    assert parquet.sniff(path) == pytest.approx(0.5)
    found = parquet.read(path, Options())
    assert sorted(found.curves) == ["done", "loss"]
    assert found.curves["loss"].step.tolist() == [1, 3]
    assert np.isnan(found.curves["loss"].value[1])
    assert found.curves["done"].value.tolist() == [1, 0, 1]


def test_parquet_cut_short(tmp_path: Path) -> None:
    whole = parquet_file(tmp_path / "metrics.parquet").read_bytes()
    for cut in range(0, len(whole), 97):
        (tmp_path / "cut.parquet").write_bytes(whole[:cut])
        with pytest.raises(InputError):
            parquet.read(tmp_path / "cut.parquet", Options())


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = parquet_file(tmp_path / "metrics.parquet")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'firstbreak\[parquet\]'"):
        parquet.read(path, Options())
