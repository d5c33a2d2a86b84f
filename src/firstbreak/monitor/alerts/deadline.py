"""Connections that are bounded in time as a whole: a socket's own timeout begins anew with every byte that arrives."""

from __future__ import annotations

import http.client
import io
import socket
import time
import urllib.request
from functools import partial
from typing import Any


class Unanswered(TimeoutError):
    """Everything was sent, and the answer was not there in time."""


class Until(io.RawIOBase):
    """Reads from a socket until a moment.

    Args:
        sock: A connected socket; its timeout is changed.
        until: On the clock of `time.monotonic`.
    """

    def __init__(self, sock: socket.socket, until: float) -> None:
        self._sock, self._until = sock, until

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what is there.

        Raises:
            Unanswered: the time is over.
        """
        left_s = self._until - time.monotonic()
        if left_s <= 0:
            raise Unanswered
        self._sock.settimeout(left_s)
        try:
            return self._sock.recv_into(buffer)
        except TimeoutError:
            raise Unanswered from None


class _Answer(http.client.HTTPResponse):
    """An answer of which every byte must be there in time."""

    def __init__(self, sock: socket.socket, *args: Any, until: float, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp.close()
        self.fp = io.BufferedReader(Until(sock, until))


class _Plain(http.client.HTTPConnection):
    """One connection; from its making on, its `timeout` is for all of it together."""

    def __init__(self, *args: Any, timeout: float, **kwargs: Any) -> None:
        super().__init__(*args, timeout=timeout, **kwargs)
        self._until = time.monotonic() + timeout
        self.response_class = partial(_Answer, until=self._until)  # pyright: ignore[reportAttributeAccessIssue]

    def connect(self) -> None:
        """Connect; each address of the host and the greeting of TLS have the whole time, what follows the rest of it.

        Raises:
            TimeoutError: the time is over.
        """
        super().connect()
        left_s = self._until - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self.sock.settimeout(left_s)


class _Secure(_Plain, http.client.HTTPSConnection):
    """The same over TLS."""


class Http(urllib.request.HTTPHandler):
    """Opens http addresses so."""

    def http_open(self, req: urllib.request.Request) -> Any:
        """Send `req`."""
        return self.do_open(_Plain, req)  # pyright: ignore[reportArgumentType]


class Https(urllib.request.HTTPSHandler):
    """Opens https addresses so."""

    def https_open(self, req: urllib.request.Request) -> Any:
        """Send `req`."""
        return self.do_open(_Secure, req, context=self._context)  # type: ignore[attr-defined] # pyright: ignore
