from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

RECORDED = Path(__file__).parents[3] / "data" / "remote" / "mlflow"
SETTINGS = (
    *("WANDB_API_KEY", "WANDB_BASE_URL", "MLFLOW_TRACKING_URI", "MLFLOW_TRACKING_TOKEN"),
    *("MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"),
    *("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
)


@dataclass
class Asked:
    """One request as the stub got it."""

    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Stub:
    """A server on the loopback; `answer` maps a request to status, headers and body."""

    answer: Callable[[Asked], tuple[int, dict[str, str], bytes]]
    root: str = ""
    asked: list[Asked] = field(default_factory=list[Asked])


@pytest.fixture(autouse=True)
def _no_settings_of_mine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def serve() -> Generator[Callable[..., Stub]]:
    """Start servers that answer as told."""
    servers: list[tuple[ThreadingHTTPServer, threading.Thread]] = []

    def start(answer: Callable[[Asked], tuple[int, dict[str, str], bytes]]) -> Stub:
        stub = Stub(answer)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                stub.asked.append(Asked(self.path, dict(self.headers.items()), body))
                status, headers, content = stub.answer(stub.asked[-1])
                self.send_response(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                with contextlib.suppress(ConnectionError):  # the client may have had enough
                    self.wfile.write(content)

            do_POST = do_GET  # noqa: N815

            def log_message(self, format: str, *args: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        servers.append((server, thread))
        stub.root = f"http://127.0.0.1:{server.server_address[1]}"
        return stub

    yield start
    for server, thread in servers:
        server.shutdown()
        server.server_close()
        thread.join()


def json_answer(value: Any, status: int = 200) -> tuple[int, dict[str, str], bytes]:
    return status, {"Content-Type": "application/json"}, json.dumps(value).encode()


@pytest.fixture
def replay(serve: Callable[..., Stub]) -> Callable[[str], tuple[Stub, str]]:
    """Serve what a real MLflow server answered; return the stub and the address of the run."""

    def start(name: str) -> tuple[Stub, str]:
        recorded = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))
        answers = {a["target"]: a for a in recorded["answers"]}

        def answer(asked: Asked) -> tuple[int, dict[str, str], bytes]:
            found = answers[asked.target]
            return found["status"], {"Content-Type": found["type"]}, found["body"].encode()

        stub = serve(answer)
        return stub, f"{stub.root}/#/experiments/1/runs/{recorded['run_id']}"

    return start
