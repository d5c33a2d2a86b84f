from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from firstbreak.errors import InputError, MissingExtraError, UnknownNameError
from firstbreak.loading import load, load_runs

LOGS = Path(__file__).parents[1] / "data" / "logs"


def values(log: Any, metric: str) -> list[float]:
    series = log.get(metric)
    assert series is not None
    return series.value.tolist()


def test_every_labelled_run_is_found_with_its_metrics() -> None:
    labels = json.loads((LOGS / "labels.json").read_text())
    runs = load_runs(LOGS)
    assert len(runs) == len(labels)
    for name in labels:
        (log,) = (run for run in runs if f"{run.path}/".startswith(f"{LOGS / name}/"))
        assert log.series, name


def test_a_run_read_from_several_sources_has_each_point_once() -> None:
    log = load(LOGS / "sb3_ppo_cartpole")
    series = log.get("reward/episode_return_mean")
    assert series is not None
    assert series.step.tolist() == [2048.0 * i for i in range(1, 26)]
    raw = log.get("reward/raw_episode_return")
    assert raw is not None
    assert len(raw) == 341
    assert log.clock == "env_steps"
    assert log.clocks is not None
    assert log.clocks.convert(51200, "updates") == 25
    assert len(log.provenance.read) == 5  # the configuration too


def test_every_file_is_read_or_left_with_a_reason() -> None:
    for name in ("sb3_fixtures/sb3_ppo", "torchrl_ppo_pendulum", "trl_grpo_hackable"):
        log = load(LOGS / name)
        said = {*log.provenance.read, *(path for path, _ in log.provenance.left), *log.samples}
        files = {str(path) for path in (LOGS / name).rglob("*") if path.is_file()}
        assert not {path for path in files if path not in said and not path.endswith(".csv")}
        assert {path for path in files if path.endswith("monitor.csv")} <= said


def test_monitor_episodes_lie_on_the_runs_clock() -> None:
    raw = load(LOGS / "sb3_fixtures" / "sb3_ppo").get("episode/length")
    assert raw is not None
    assert 900 < raw.step[-1] <= 1024


def test_trackers_that_count_rows_are_put_on_the_real_steps() -> None:
    for name in ("wandb_offline", "trackio", "cleanrl_tb"):
        log = load(LOGS / name)
        assert log.clock == "env_steps"
        assert log.last_step == pytest.approx(25600, abs=40)


def test_states_and_samples() -> None:
    log = load(LOGS / "trl_grpo_healthy")
    assert log.state == "finished"
    assert len(log.samples) == 20
    assert all(path.endswith(".parquet") for path in log.samples)


def test_a_folder_of_several_runs_asks_which() -> None:
    with pytest.raises(InputError, match="load_runs"):
        load(LOGS / "sb3_fixtures")


def test_one_damaged_file_does_not_stop_the_others(tmp_path: Path) -> None:
    shutil.copytree(LOGS / "sb3_fixtures" / "sb3_sac", tmp_path / "run")
    (tmp_path / "run" / "evaluations.npz").write_bytes(b"PK rubbish")
    (tmp_path / "run" / "progress.csv").write_text("")
    (tmp_path / "run" / "0.monitor.csv").write_text("#{}\nr,l,t\n")
    log = load(tmp_path / "run")
    assert log.get("critic/loss") is not None
    assert {Path(problem.path).name for problem in log.provenance.problems} == {
        "evaluations.npz",
        "progress.csv",
        "0.monitor.csv",
    }


def test_only_damaged_files_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "progress.csv").write_text("time/total_timesteps,time/fps\n")
    with pytest.raises(InputError, match="no numbers"):
        load(tmp_path)


def test_two_runs_in_one_folder_are_kept_apart(tmp_path: Path) -> None:
    for name, sign in (("seed0", 1), ("seed1", -1)):
        rows = "".join(f"{i},{i * sign}\n" for i in range(1, 20))
        (tmp_path / f"{name}.csv").write_text(f"step,reward\n{rows}")
    runs = load_runs(tmp_path)
    assert len(runs) == 2
    assert all("kept apart" in " ".join(map(str, run.provenance.problems)) for run in runs)


def test_training_and_evaluation_tables_are_one_run(tmp_path: Path) -> None:
    for name in ("train", "eval"):
        (tmp_path / f"{name}.csv").write_text("step,loss\n1,2\n2,3\n")
    (log,) = load_runs(tmp_path)
    assert {*log.unmapped, *(series.source_key for series in log.series)} == {"loss", "eval/loss"}


def test_configuration_beside_the_log(tmp_path: Path) -> None:
    (tmp_path / ".hydra").mkdir()
    (tmp_path / ".hydra" / "config.yaml").write_text("gamma: 0.9\nalgo: {learning_rate: 0.1}\n")
    (tmp_path / "m.csv").write_text("step,loss\n1,2\n")
    log = load(tmp_path, config={"clip_range": 0.3})
    assert log.config["gamma"] == 0.9
    assert log.config["algo.learning_rate"] == 0.1
    assert log.config["clip_range"] == 0.3


def test_trackio_with_several_runs(tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "p.db") as base:
        base.execute(
            "create table metrics (id integer primary key, timestamp text, run_name text, step int, metrics text)"
        )
        for run in ("a", "b"):
            for step in range(3):
                row = ("2026-01-01T00:00:00", run, step, json.dumps({"reward": step}))
                base.execute("insert into metrics (timestamp, run_name, step, metrics) values (?, ?, ?, ?)", row)
    base.close()
    assert [run.path.rsplit("#")[-1] for run in load_runs(tmp_path)] == ["a", "b"]


# ---- from memory --------------------------------------------------------------------------------------------------

MAP = {"e": "policy/entropy"}


def test_a_dictionary_of_numbers_or_pairs() -> None:
    assert values(load({"e": [1, 2, "nan"]}, map=MAP), "policy/entropy")[:2] == [1, 2]
    log = load({"e": [[10, 1.0], (20, "inf"), [30, None]]}, map=MAP)
    series = log.get("policy/entropy")
    assert series is not None
    assert series.step.tolist() == [10, 20]
    assert np.isinf(series.value[1])


def test_a_dictionary_with_a_step_column() -> None:
    series = load({"step": [5, 6], "e": np.array([1.0, 2.0])}, map=MAP).get("policy/entropy")
    assert series is not None
    assert series.step.tolist() == [5, 6]


def test_one_number() -> None:
    assert values(load({"e": 0.5}, map=MAP), "policy/entropy") == [0.5]


def test_rows() -> None:
    log = load([{"step": 1, "a": {"e": 1}}, {"step": 3, "a": {"e": 2}}], map={"a/e": "policy/entropy"})
    series = log.get("policy/entropy")
    assert series is not None
    assert series.step.tolist() == [1, 3]


def test_a_pandas_frame() -> None:
    frame = pd.DataFrame({"when": [10, 20, 30, 40], "e": [1.0, None, 2.0, 3.0], "text": list("abcd")})
    series = load(frame, map=MAP, step="when").get("policy/entropy")
    assert series is not None
    assert series.step.tolist() == [10, 30, 40]


def test_nan_to_the_end_of_a_pandas_column_is_a_nan() -> None:
    frame = pd.DataFrame({"step": range(8), "e": [1.0, 1.0, 1.0] + [None] * 5})
    assert np.isnan(values(load(frame, map=MAP), "policy/entropy")[3:]).all()


class Frame:
    """A data frame of another library: `columns`, `[]`, and columns with `to_list`."""

    columns = ("step", "e")

    def __getitem__(self, name: str) -> Any:
        return Column([1, 2] if name == "step" else [0.5, None])


class Column:
    def __init__(self, cells: list[Any]) -> None:
        self.cells = cells

    def to_list(self) -> list[Any]:
        return self.cells


def test_another_frame() -> None:
    assert values(load(Frame(), map=MAP), "policy/entropy") == [0.5]


@pytest.mark.parametrize(
    "source", [{}, [], {"e": []}, {"e": object()}, [1, 2], 3, b"x", {"e": ["x"]}, {"e": [[1, 2, 3]]}, {"e": [{}]}, None]
)
def test_what_cannot_be_loaded(source: Any) -> None:
    with pytest.raises(InputError):
        load(source)


def test_unknown_names_offer_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="policy/entropy"):
        load({"e": [1]}, map={"e": "policy/entropi"})
    with pytest.raises(UnknownNameError, match="when"):
        load([{"when": 1, "e": 2}], step="whem")


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pd.DataFrame({"step": [1, 2], "e": [1.0, 2.0]}).to_parquet(tmp_path / "m.parquet")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"firstbreak\[parquet\]"):
        load(tmp_path)
