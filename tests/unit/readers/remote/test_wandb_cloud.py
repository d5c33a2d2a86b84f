"""The W&B reader against answers built from the shape in wandb's public client; no real answer was to be had."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from firstbreak.errors import InputError, UnreadableError
from firstbreak.loading import load
from firstbreak.readers.protocol import Options
from firstbreak.readers.remote import fetch, remotes, wandb_cloud

from .conftest import Asked, Stub, json_answer

Serve = Callable[..., Stub]
ADDRESS = "https://wandb.ai/my-team/ppo/runs/ab12cd34"
KEY = "0123456789abcdef-my-key"
CONFIG = {"lr": {"value": 0.001, "desc": None}, "_wandb": {"value": {"t": 1}}, "env": {"id": "CartPole-v1"}}
HEAD = {
    "displayName": "brave-sun-1",
    "state": "finished",
    "config": json.dumps(CONFIG),
    "createdAt": "2025-01-02T03:04:05",
    "heartbeatAt": "2025-01-02T04:04:05Z",
}


def history(rows: list[dict[str, Any]], inclusive: bool = False, **head: Any) -> Callable[[Asked], Any]:
    """A server that holds `rows`, thins what exceeds the page, and counts the last step in if `inclusive`."""
    last = max((row["_step"] for row in rows), default=-1)
    whole = {**HEAD, "historyLineCount": len(rows), "historyKeys": {"lastStep": last, "keys": {}}, **head}

    def answer(asked: Asked) -> Any:
        question = json.loads(asked.body)
        asks = question["variables"]
        assert (asks["entity"], asks["project"], asks["name"]) == ("my-team", "ppo", "ab12cd34")
        run: dict[str, Any] = whole
        if "minStep" in asks:
            end = asks["maxStep"] + inclusive
            found = [row for row in rows if asks["minStep"] <= row["_step"] < end]
            step = -(-len(found) // asks["pageSize"]) or 1
            run = {"history": [json.dumps(row) for row in found[::step]]}
        return json_answer({"data": {"project": {"run": run}}})

    return answer


@pytest.fixture
def wandb(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Stub]:
    def start(answer: Callable[[Asked], Any]) -> Stub:
        stub = serve(answer)
        monkeypatch.setenv("WANDB_BASE_URL", stub.root + "/")
        return stub

    return start


def test_history_config_and_state(wandb: Serve) -> None:
    rows = [{"_step": i, "_timestamp": 1.7e9 + i, "loss": 1.0 / (i + 1), "eval": {"a": 2}} for i in range(3)]
    rows[1]["loss"] = "NaN"
    rows[2] |= {"loss": float("inf"), "note": "hello", "hist": {"_type": "histogram", "bins": [1]}}
    stub = wandb(history(rows))
    recording = fetch(ADDRESS + "?nw=me#top", Options())
    assert recording.config == {"lr": 0.001, "env": {"id": "CartPole-v1"}}
    assert (recording.run_name, recording.ended, recording.path) == ("brave-sun-1", "finished", ADDRESS)
    np.testing.assert_equal(recording.curves["loss"].value, [1.0, np.nan, np.inf])
    assert recording.curves["eval.a"].step.tolist() == [0, 1, 2]
    wall = recording.curves["loss"].wall
    assert wall is not None
    assert wall.tolist() == [1.7e9, 1.7e9 + 1, 1.7e9 + 2]
    assert recording.texts == {"note": "hello"}
    assert recording.modified == 1735790645.0
    assert [e.at for e in recording.events] == [2.0]
    assert "'histogram'" in recording.problems[0].what
    assert "Authorization" not in stub.asked[0].headers
    assert {a.target for a in stub.asked} == {"/graphql"}


@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize(
    "steps",
    [
        range(2500),
        range(0, 5_000_000, 2048),
        [*range(1500), 10_000_000, 20_000_000],
        [*range(0, 10_000_000, 10_000), *range(20_000_000, 20_003_000)],
    ],
    ids=["one a step", "far apart", "dense then sparse", "sparse then dense"],
)
def test_every_row_comes_once_however_they_are_spread(wandb: Serve, steps: Any, inclusive: bool) -> None:
    stub = wandb(history([{"_step": i, "x": float(i)} for i in steps], inclusive))
    heard: list[tuple[int, int]] = []
    recording = fetch(ADDRESS, Options(progress=lambda done, total: heard.append((done, total))))
    assert recording.curves["x"].value.tolist() == [float(i) for i in steps]
    assert len(stub.asked) < 50
    assert heard[-1][0] == heard[-1][1]


def test_a_server_that_does_not_count_its_rows(wandb: Serve) -> None:
    wandb(history([{"_step": i, "x": float(i)} for i in range(2500)], historyLineCount=None))
    assert len(fetch(ADDRESS, Options()).curves["x"]) == 2500


@pytest.mark.parametrize("head", [{"historyKeys": None}, {"historyKeys": {}, "historyLineCount": 5}])
def test_a_run_whose_end_is_not_told(wandb: Serve, head: dict[str, Any]) -> None:
    wandb(history([{"_step": 0, "x": 1.0}], **head))
    recording = fetch(ADDRESS, Options())
    assert recording.curves == {}
    assert "the server does not say how far its history goes." in [p.what for p in recording.problems]


@pytest.mark.parametrize(
    ("state", "ended"),
    [("finished", "finished"), ("crashed", "crashed"), ("failed", "crashed"), ("killed", "crashed"), ("running", "")],
)
def test_the_state_of_the_run(wandb: Serve, state: str, ended: str) -> None:
    wandb(history([{"_step": 0, "x": 1.0}], state=state))
    assert fetch(ADDRESS, Options()).ended == ended


def test_the_wall_time_where_only_the_seconds_since_the_start_are_told(wandb: Serve) -> None:
    wandb(history([{"_step": 4, "_runtime": 10, "x": 1.0}], createdAt="2025-01-02T03:04:05+01:00"))
    wall = fetch(ADDRESS, Options()).curves["x"].wall
    assert wall is not None
    assert wall.tolist() == [1735783455.0]


def test_damaged_rows_and_settings_are_told(wandb: Serve) -> None:
    whole = {**HEAD, "config": "{", "historyLineCount": 3, "historyKeys": {"lastStep": 2}, "heartbeatAt": "yesterday"}

    def answer(asked: Asked) -> Any:
        page = {"history": ["{", "[]", '{"_step": 2, "x": 3}']}
        return json_answer({"data": {"project": {"run": page if b"minStep" in asked.body else whole}}})

    wandb(answer)
    recording = fetch(ADDRESS, Options())
    assert recording.curves["x"].step.tolist() == [2.0]
    said = [p.what for p in recording.problems]
    assert said[:2] == ["it is not JSON; no setting is known.", "2 rows are not JSON; they were left out."]
    assert (recording.config, recording.modified) == ({}, 0.0)


def test_it_says_that_it_was_never_tried(wandb: Serve) -> None:
    wandb(history([{"_step": i, "train/approx_kl": 0.01} for i in range(3)]))
    (mine,) = [remote for remote in remotes() if remote.name == "wandb_cloud"]
    assert not mine.verified
    log = load(ADDRESS)
    assert any("never tried on a real answer" in p.what for p in log.provenance.problems)
    assert log.state == "finished"


@pytest.mark.parametrize("data", [{"project": None}, {"project": {"run": None}}, None])
def test_a_run_that_is_not_shown(wandb: Serve, data: Any) -> None:
    wandb(lambda asked: json_answer({"data": data}))
    with pytest.raises(InputError, match="shows no run 'ab12cd34' in my-team/ppo"):
        fetch(ADDRESS, Options())


def test_the_key_is_sent_and_never_shown(wandb: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    stub = wandb(lambda asked: json_answer({"errors": [{"message": f"key {KEY} may not\x1b[2J see it"}]}))
    with pytest.raises(UnreadableError, match=r"key \*\*\* may not \[2J see it") as caught:
        fetch(ADDRESS, Options())
    assert KEY not in f"{caught.value!r}"
    assert stub.asked[0].headers["Authorization"].startswith("Basic ")
    assert KEY not in repr(wandb_cloud._server())
    stub.answer = lambda asked: (401, {}, b"{}")
    with pytest.raises(InputError, match=r"(?s)refuses the credentials.*WANDB_API_KEY") as refused:
        fetch(ADDRESS, Options())
    assert KEY not in str(refused.value)


def test_a_key_in_a_netrc_file_is_not_read(
    wandb: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / ".netrc").write_text(f"machine 127.0.0.1 login user password {KEY}\n")
    monkeypatch.setenv("HOME", str(home))
    stub = wandb(history([{"_step": 0, "x": 1.0}]))
    fetch(ADDRESS, Options())
    assert all("Authorization" not in asked.headers for asked in stub.asked)


def test_rows_that_the_server_keeps_back_are_told(wandb: Serve) -> None:
    wandb(history([{"_step": i, "x": 1.0} for i in range(10)], historyLineCount=25))
    assert "10 of 25 rows came; the server left out the others." in [p.what for p in fetch(ADDRESS, Options()).problems]
