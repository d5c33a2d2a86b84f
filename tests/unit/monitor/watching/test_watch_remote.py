"""A run on a server is asked seldom, and ever more seldom while the server does not answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from firstbreak.config import Settings
from firstbreak.errors import InputError
from firstbreak.monitor.watching.events import Event, Kind, State
from firstbreak.monitor.watching.sources import MOST_PATIENT_S, POLITE_S, RemoteSource
from firstbreak.monitor.watching.watcher import Watcher

RECORDED = Path(__file__).parents[3] / "data" / "remote" / "mlflow"


class Server:
    """A server of MLflow as it really answered; it can be made to fail."""

    def __init__(self) -> None:
        self.use("running")
        self.status = 200
        self.asked: list[float] = []
        self.time = 0.0

    def use(self, name: str) -> None:
        recorded = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))
        self.run_id = recorded["run_id"]
        self.answers = {answer["target"]: answer for answer in recorded["answers"]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Generator[tuple[Server, str]]:
    from firstbreak.readers.remote import mlflow_server

    monkeypatch.setattr(mlflow_server, "PAGE", 12)
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_TRACKING_TOKEN", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if "runs/get" in self.path:
                state.asked.append(state.time)
            found = state.answers[self.path] if state.status == 200 else {"status": state.status, "body": "{}"}
            body = found["body"].encode()
            self.send_response(found["status"])
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield state, f"http://127.0.0.1:{http.server_address[1]}/#/experiments/1/runs/{state.run_id}"
    http.shutdown()
    http.server_close()
    thread.join()


def watch(state: Server, address: str) -> tuple[Watcher, Any]:
    watcher = Watcher(
        RemoteSource(address),
        Settings(select=("kl-overshoot",)),
        clock=lambda: state.time,
        now=lambda: 1.7e9 + state.time,
        work=lambda: 0.0,
    )

    def until(end: float) -> list[Event]:
        told: list[Event] = []
        while state.time < end:
            told += watcher.poll()
            state.time += watcher.rest_s
        return told

    return watcher, until


def test_it_is_asked_every_half_minute_and_less_while_it_fails(server: tuple[Server, str]) -> None:
    state, address = server
    watcher, until = watch(state, address)
    told = until(100.0)
    assert state.asked == [0.0, POLITE_S, 2 * POLITE_S, 3 * POLITE_S]
    assert next(e.kind for e in told) is Kind.RUN
    state.status, state.asked = 503, []
    told = until(4000.0)
    gaps = [b - a for a, b in zip(state.asked, state.asked[1:], strict=False)]
    assert gaps == sorted(gaps)
    assert gaps[0] >= 2 * POLITE_S
    assert gaps[-1] == MOST_PATIENT_S
    assert [e.kind for e in told] == [Kind.LOST]
    state.status = 200
    told = until(state.time + MOST_PATIENT_S + 1)
    assert Kind.BACK in [e.kind for e in told]
    assert watcher.source.waits_s == POLITE_S


def test_an_address_that_is_no_run_is_refused_at_once(server: tuple[Server, str]) -> None:
    state, address = server
    state.status = 404
    _watcher, until = watch(state, address)
    with pytest.raises(InputError):
        until(10.0)


def test_a_run_that_the_server_calls_finished_is(server: tuple[Server, str]) -> None:
    state, address = server
    state.use("finished")
    watcher, until = watch(state, address.rpartition("/")[0] + f"/{state.run_id}")
    until(5.0)
    (track,) = watcher.tracks.values()
    assert track.state is State.FINISHED
