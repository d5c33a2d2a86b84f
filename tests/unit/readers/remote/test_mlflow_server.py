"""The MLflow reader against what a server of MLflow 3.17 really answered, and against what servers do wrong."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak.cli import main
from firstbreak.errors import InputError, UnreadableError
from firstbreak.loading import load, load_runs
from firstbreak.readers.protocol import Options
from firstbreak.readers.remote import fetch, is_url, mlflow_server

from .conftest import Asked, Stub, json_answer

Replay = Callable[[str], tuple[Stub, str]]
Serve = Callable[..., Stub]
SECRET = "s3cr3t-token"
RUN = {"info": {"run_name": "x", "status": "RUNNING", "start_time": 1000}, "data": {"metrics": [{"key": "loss"}]}}


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mlflow_server, "PAGE", 12)


def run_server(*pages: dict[str, Any]) -> Callable[[Asked], tuple[int, dict[str, str], bytes]]:
    """A server with one run and one metric, whose history comes in `pages`."""
    left = list(pages)
    return lambda asked: json_answer({"run": RUN} if "runs/get" in asked.target else left.pop(0))


def at(stub: Stub) -> str:
    return f"{stub.root}/#/experiments/0/runs/abc"


def test_all_pages_of_all_metrics_are_read(replay: Replay) -> None:
    stub, address = replay("failed")
    heard: list[tuple[int, int]] = []
    recording = fetch(address, Options(progress=lambda done, total: heard.append((done, total))))
    assert {key: len(curve) for key, curve in recording.curves.items()} == dict.fromkeys(recording.curves, 30)
    kl = recording.curves["train/approx_kl"]
    assert kl.step.tolist() == [2048.0 * i for i in range(1, 31)]
    assert kl.value[:10].max() < 0.02
    assert kl.value[10:].min() > 3.9
    assert kl.wall is not None
    assert kl.wall[1] - kl.wall[0] == 7.0
    assert recording.config == {
        "learning_rate": 0.0003,
        "n_steps": 2048,
        "algo": "PPO",
        "total_timesteps": 61440,
        "clip_range": 0.2,
    }
    assert (recording.run_name, recording.ended, recording.texts["note"]) == ("broken", "crashed", "hand made ü")
    assert [(e.name, e.at, e.text) for e in recording.events] == [("end", 61440.0, "failed")]
    assert len(stub.asked) == 1 + 9 * 3
    assert heard == sorted(heard)
    assert heard[-1][0] == heard[-1][1] > 20_000


def test_nan_and_the_infinities_that_the_database_cannot_hold(replay: Replay) -> None:
    curves = fetch(replay("failed")[1], Options()).curves
    loss = curves["train/policy_gradient_loss"].value
    assert np.isnan(loss[20:]).all()
    assert np.isfinite(loss[:20]).all()
    odd = curves["train/my odd/key"].value
    assert (odd[4], odd[5], odd[6]) == (1e300, np.inf, -np.inf)


@pytest.mark.parametrize(
    ("name", "ended", "points"), [("finished", "finished", 3), ("running", "", 3), ("empty", "crashed", 0)]
)
def test_the_state_of_the_run(replay: Replay, name: str, ended: str, points: int) -> None:
    recording = fetch(replay(name)[1], Options())
    assert (recording.ended, recording.points) == (ended, points)
    assert [p.what for p in recording.problems] == ([] if points else ["it holds no metric (yet)."])


def test_a_run_without_an_end_is_running_while_points_come(replay: Replay) -> None:
    assert load(replay("running")[1], now=1_760_000_100.0).state == "running"


def test_the_run_goes_through_ingestion_like_any_other(replay: Replay) -> None:
    address = replay("failed")[1]
    (log,) = load_runs(address)
    assert (log.framework, log.algorithm, log.state, log.clock) == ("stable_baselines3", "PPO", "crashed", "env_steps")
    assert len(load(f"mlflow+{address}").series) == len(log.series) >= 7
    assert log.path.startswith("http://127.0.0.1:")
    mapped = load(address, map={"train/my odd/key": "policy/logit_abs_max"}, config={"gamma": 0.5})
    assert mapped.get("policy/logit_abs_max") is not None
    assert mapped.config["gamma"] == 0.5


def test_the_short_address_finds_its_server_in_the_environment(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    stub, address = replay("finished")
    short = "runs:/" + address.rpartition("/")[2]
    with pytest.raises(InputError, match="MLFLOW_TRACKING_URI is not set"):
        fetch(short, Options())
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "sqlite:///mlflow.db")
    with pytest.raises(InputError, match="not the address of a server"):
        fetch(short, Options())
    monkeypatch.setenv("MLFLOW_TRACKING_URI", stub.root + "/")
    assert fetch(short, Options()).run_name == "small finished"


def test_a_missing_run_is_said_to_be_missing(replay: Replay) -> None:
    with pytest.raises(InputError, match="no such run"):
        fetch(replay("missing")[1], Options())


def test_credentials_are_sent_and_never_shown(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", SECRET)
    stub = serve(lambda asked: (401, {}, f"wrong: {asked.headers}".encode()))
    with pytest.raises(InputError, match="refuses the credentials") as caught:
        fetch(at(stub), Options())
    assert stub.asked[0].headers["Authorization"] == f"Bearer {SECRET}"
    assert SECRET not in f"{caught.value} {caught.value!r} {caught.value.__cause__!r}"
    assert "MLFLOW_TRACKING_TOKEN" in str(caught.value)
    assert SECRET not in repr(mlflow_server._server(stub.root))


def test_user_and_password_win_over_the_token(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", SECRET)
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "me")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "pä ss")
    stub = serve(run_server({}))
    fetch(at(stub), Options())
    assert stub.asked[0].headers["Authorization"] == "Basic " + base64.b64encode("me:pä ss".encode()).decode()


def test_credentials_of_one_server_are_not_sent_to_another(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", SECRET)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://mlflow.example.org")
    stub = serve(lambda asked: (401, {}, b""))
    with pytest.raises(InputError, match="wants credentials and none are set"):
        fetch(at(stub), Options())
    assert "Authorization" not in stub.asked[0].headers


def test_a_server_that_repeats_a_page_does_not_hold_us_for_ever(serve: Serve) -> None:
    page = {"metrics": [{"key": "loss", "value": 1.5, "step": 1, "timestamp": 0}], "next_page_token": "again"}
    recording = fetch(at(serve(run_server(page, page))), Options())
    assert recording.curves["loss"].value.tolist() == [1.5, 1.5]
    assert [p.what for p in recording.problems] == ["the server gave the same page twice; what follows it is missing."]


def test_points_that_are_no_numbers_are_left_out_and_counted(serve: Serve) -> None:
    rows = [{"value": 1.0, "step": "x"}, {"value": None}, {"value": "Infinity", "step": 2, "timestamp": 3}, 7]
    recording = fetch(at(serve(run_server({"metrics": rows}))), Options())
    assert recording.curves["loss"].value.tolist() == [np.inf]
    assert "3 points are not numbers" in recording.problems[0].what


@pytest.mark.parametrize("answer", [{}, [], {"run": []}, 3])
def test_an_answer_without_a_run(serve: Serve, answer: Any) -> None:
    with pytest.raises(UnreadableError, match="without a run"):
        fetch(at(serve(lambda asked: json_answer(answer))), Options())


@pytest.mark.parametrize(
    "address",
    [
        "http://h:5000/#/experiments/1/runs/abc",
        "https://h/mlflow/#/experiments/1/runs/abc/model-metrics",
        "mlflow+https://h/?workspace=a#/experiments/1/runs/abc?x=1",
        "runs:/abc",
    ],
)
def test_addresses_that_name_a_run(address: str) -> None:
    assert is_url(address)
    assert mlflow_server.recognise(address)


@pytest.mark.parametrize("address", ["http://h/#/experiments/1", "http://h/x/runs/abc", "runs:/", "http://h"])
def test_addresses_that_do_not(address: str) -> None:
    assert not mlflow_server.recognise(address)


@pytest.mark.parametrize("path", ["runs/ppo", "run.jsonl", "C:\\runs", Path("http://h"), 3, "ftp://h/x"])
def test_paths_are_not_addresses(path: Any) -> None:
    assert not is_url(path)


def test_the_command_line_takes_an_address(replay: Replay, capsys: pytest.CaptureFixture[str]) -> None:
    stub, address = replay("failed")
    assert main(["diagnose", address, "--format", "json"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["first_break"]["rule"] == "POL001"
    assert run["run"]["path"].startswith(stub.root)
    assert (run["run"]["state"], run["last_healthy_checkpoint"]) == ("crashed", None)
    assert main(["compare", address, address]) == 0
    assert main(["diagnose", f"{stub.root}/other"]) == 2
    assert "RUN_ID" in capsys.readouterr().err


def test_a_path_never_asks_anybody(serve: Serve, tmp_path: Path) -> None:
    stub = serve(lambda asked: json_answer({}))
    (tmp_path / "run.jsonl").write_text(json.dumps({"step": 1, "loss": 1.0, "url": at(stub)}) + "\n")
    load(tmp_path / "run.jsonl")
    with pytest.raises((InputError, UnreadableError)):
        load(Path(at(stub)))
    assert stub.asked == []
