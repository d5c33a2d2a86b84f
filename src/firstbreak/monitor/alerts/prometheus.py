"""`Prometheus`: the state of a run for a Prometheus server to scrape."""

from __future__ import annotations

import io
import os
import socket
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

from ...errors import InputError
from ..verdict import Notice
from .alert import Source
from .exposition import OPENMETRICS, PROMETHEUS, expose
from .readings import AlarmCount, latest_of

if TYPE_CHECKING:
    from socketserver import BaseRequestHandler, TCPServer


ASKING_S = 5.0
"""Seconds that a client may take to ask, and as many to take what it is told."""
MOST_AT_ONCE = 16
"""Clients that are answered at the same time. Engineering choice: one scrapes, the others hang."""
ANSWERING = "firstbreak-scrape"


def _answering() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == ANSWERING]


class Prometheus:
    """Serves the newest values as gauges and the alarms as a counter at `/metrics`. Nothing is done until it is asked.

    Args:
        source: The monitor, or `Readings`; a `Monitor` that has this among its alerts gives itself.
        port: 0 for any free one; `url` says which.
        host: The address to listen on. Anything but this machine's own shows the run to everyone who can reach it.

    Raises:
        InputError: the port cannot be had.
    """

    per_minute: int | None = None

    def __init__(self, source: Source | None = None, *, port: int = 9464, host: str = "127.0.0.1") -> None:
        self._source = source
        self._count = AlarmCount()
        self._pid = os.getpid()
        self._server: TCPServer | None = _listen(self, host, port)
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self._server.server_address[1]}/metrics"
        threading.Thread(target=self._server.serve_forever, name="firstbreak-prometheus", daemon=True).start()
        me: weakref.ref[Prometheus] = weakref.ref(self)
        os.register_at_fork(after_in_child=lambda: _forget(me))

    def attach(self, source: Source) -> None:
        """Serve this monitor, unless a source was given."""
        self._source = self._source if self._source is not None else source

    def send(self, notice: Notice) -> None:
        """Do nothing: alarms are counted when somebody asks."""

    def page(self, *, openmetrics: bool = False) -> str:
        """Return what is served."""
        return expose(latest_of(self._source), self._count.of(self._source), openmetrics=openmetrics)

    def close(self) -> None:
        """Stop serving and free the port."""
        server, self._server = self._server, None
        if server is not None:
            if os.getpid() == self._pid:
                server.shutdown()
            server.server_close()


def _forget(reference: weakref.ref[Prometheus]) -> None:
    """Let a forked child give up the port: it has no thread to answer, and would keep the port from its parent."""
    mine = reference()
    if mine is not None:
        mine.close()


def _handler(owner: Prometheus) -> type[BaseRequestHandler]:
    """Return what answers one connection with the page of `owner`."""
    from http.server import BaseHTTPRequestHandler

    from .deadline import Until

    class Handler(BaseHTTPRequestHandler):
        server_version, sys_version = "firstbreak", ""
        timeout = ASKING_S

        def setup(self) -> None:
            super().setup()
            self.rfile.close()
            self.rfile = io.BufferedReader(Until(self.connection, time.monotonic() + ASKING_S))

        def do_GET(self) -> None:
            if self.path.split("?")[0] not in ("/metrics", "/"):
                return self._answer(404, "text/plain; charset=utf-8", "See /metrics\n")
            openmetrics = "application/openmetrics-text" in self.headers.get("Accept", "")
            try:
                page = owner.page(openmetrics=openmetrics)
            except Exception as error:
                return self._answer(500, "text/plain; charset=utf-8", f"{type(error).__name__}\n")
            return self._answer(200, OPENMETRICS if openmetrics else PROMETHEUS, page)

        def _answer(self, status: int, kind: str, text: str) -> None:
            body = text.encode("utf-8")
            self.connection.settimeout(ASKING_S)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: the terminal belongs to the training."""

    return Handler


def _listen(owner: Prometheus, host: str, port: int) -> TCPServer:
    from socketserver import ThreadingTCPServer

    class Quiet(ThreadingTCPServer):  # an HTTPServer would look its own name up, which may take seconds
        daemon_threads, block_on_close = True, False  # whoever hangs holds up neither others nor the end
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        allow_reuse_address = True

        def verify_request(self, request: object, client_address: object) -> bool:
            """Turn away whoever comes while too many are being answered."""
            return len(_answering()) < MOST_AT_ONCE

        def process_request_thread(self, request: Any, client_address: Any) -> None:
            """Answer on a thread whose name tells what it does."""
            threading.current_thread().name = ANSWERING
            super().process_request_thread(request, client_address)

        def handle_error(self, request: object, client_address: object) -> None:
            """Say nothing when a client hangs up."""

    try:
        return Quiet((host, port), _handler(owner))
    except (OSError, OverflowError) as error:
        raise InputError(
            f"Port {port} of {host} cannot be had: {error}.", "Give another, or port=0 for any."
        ) from error
