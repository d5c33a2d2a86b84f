"""A notice to send, a clock that only moves when somebody sleeps, and a real web server on this machine."""

from __future__ import annotations

import http.server
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from firstbreak.finding import Severity
from firstbreak.monitor.verdict import Notice


@pytest.fixture
def make_notice() -> Callable[..., Notice]:
    def make(**changed: Any) -> Notice:
        fields: dict[str, Any] = {
            "level": Severity.ERROR,
            "title": "kl-overshoot at update 120: 2.3 nats",
            "text": "KL per update rose to 2.3 nats.\nLikely cause: learning rate too high.",
            "run": "ppo_7",
            "rule": "POL001",
            "name": "kl-overshoot",
            "link": "policy_update",
            "metric": "policy/kl_old",
            "step": 120.0,
            "clock": "updates",
            "action": "stop_update",
            "wall": 1_800_000_000.5,
            "cause": "lr-too-high",
            "evidence": {"kl_nats": 2.3, "limit_nats": float("inf")},
        }
        return Notice(**{**fields, **changed})

    return make


class Clock:
    """Time passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.time_s = 1000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time_s

    def sleep(self, wait_s: float) -> None:
        self.slept.append(wait_s)
        self.time_s += wait_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@dataclass
class Web:
    """What the server was sent, and the answers it gives: (status, headers), the last one for ever."""

    url: str
    answers: list[tuple[int, dict[str, str]]]
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)


def _handler(web: Web) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            web.paths.append(self.path)
            web.headers.append(dict(self.headers.items()))
            web.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers = web.answers.pop(0) if len(web.answers) > 1 else web.answers[0]
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    return Handler


@pytest.fixture
def serve() -> Iterator[Callable[..., Web]]:
    """Start servers: `serve(200)`, `serve(500, 200)`, `serve((302, {"Location": ...}))`."""
    servers: list[http.server.HTTPServer] = []

    def start(*answers: int | tuple[int, dict[str, str]]) -> Web:
        web = Web("", [(a, {}) if isinstance(a, int) else a for a in answers])
        server = http.server.HTTPServer(("127.0.0.1", 0), _handler(web))
        web.url = f"http://127.0.0.1:{server.server_port}/hook"
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        servers.append(server)
        return web

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def silent_url() -> Iterator[str]:
    """The address of a server that takes a connection and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/hook"


@pytest.fixture
def closed_url() -> str:
    """An address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    return f"http://127.0.0.1:{port}/hook"
