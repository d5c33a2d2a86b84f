"""Questions to one server: time-outs, a size limit, no redirect to another server, errors without secrets."""

from __future__ import annotations

import base64
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from ... import __version__
from ...errors import InputError, UnreadableError
from ..points import NotJsonError, parse_json

PATIENCE_S = 30.0
"""Seconds without a byte after which an answer is given up. Engineering default."""
LARGEST_ANSWER = 64 << 20
"""Bytes of one answer; 25,000 points of MLflow take 3 MB."""
LARGEST_RUN = 1 << 30
"""Bytes of all answers for one run."""
_PIECE = 1 << 16
_LONGEST_QUOTE = 200

Open = Callable[..., Any]
"""What `urllib.request.OpenerDirector.open` does."""


def origin(address: str) -> tuple[str, str, int]:
    """Return scheme, host and port of `address`: what must be equal for credentials to be sent along.

    Raises:
        InputError: the address is malformed, or it holds a user name or password.
    """
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    scheme = parts.scheme.lower()
    if scheme not in {"http", "https"} or not parts.hostname or address != "".join(address.split()):
        raise InputError("The address of the server is not of the form http://HOST:PORT.", "Copy it from the browser.")
    if parts.username is not None or parts.password is not None:
        raise InputError(
            "The address holds a user name or a password.", "Take it out; credentials come from the environment only."
        )
    return scheme, parts.hostname.lower(), port or (443 if scheme == "https" else 80)


def basic(user: str, password: str) -> str:
    """Return the value of the header `Authorization` for a user and a password."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode("ascii")


class _SameServer(urllib.request.HTTPRedirectHandler):
    """Follows redirects within one server only: to another one they would carry the credentials along."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if origin(newurl) != origin(req.full_url):
            raise InputError(
                f"The server {_host(req.full_url)} sends on to {_host(newurl)}; redirects to others are not followed.",
                "Give the address it ends at.",
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@dataclass
class Server:
    """One server: `root` is the address before the paths, `title` what to call it, `keys` where its secrets come from.

    `secrets` are blotted out of whatever the server says before it is shown.
    """

    root: str
    title: str
    keys: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    open: Open = field(default_factory=lambda: urllib.request.build_opener(_SameServer()).open, repr=False)
    done: int = 0
    """Bytes received so far."""

    def get(self, path: str, query: Mapping[str, str]) -> Any:
        """Ask for `path` and return the JSON it answers with."""
        return self._ask(path, f"?{urlencode(query)}", None)

    def post(self, path: str, body: bytes) -> Any:
        """Post JSON to `path` and return the JSON it answers with."""
        return self._ask(path, "", body)

    def said(self, text: str) -> str:
        """Return what a server said, fit to be shown: short, printable, without secrets."""
        for secret in filter(None, self.secrets):
            text = text.replace(secret, "***")
        return "".join(c if c.isprintable() else " " for c in text)[:_LONGEST_QUOTE]

    def _ask(self, path: str, query: str, body: bytes | None) -> Any:
        origin(self.root)
        headers = {"Accept": "application/json", "User-Agent": f"firstbreak/{__version__}", **self.headers}
        if body is not None:
            headers["Content-Type"] = "application/json"
        # The scheme is http or https: `origin` has checked it.
        request = urllib.request.Request(f"{self.root}{path}{query}", body, headers)  # noqa: S310
        try:
            with self.open(request, timeout=PATIENCE_S) as response:
                raw = self._read(response)
        except urllib.error.HTTPError as error:
            error.close()
            raise self._refusal(error.code) from None
        except TimeoutError:
            raise UnreadableError(
                f"{self._name} did not answer within {PATIENCE_S:g} seconds.", "Try again, or export the run."
            ) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            if isinstance(error, (InputError, UnreadableError)):
                raise
            raise self._unreachable(error) from None
        try:
            return parse_json(raw)
        except NotJsonError:
            what = "a web page" if raw.lstrip()[:1] == b"<" else "something"
            raise UnreadableError(
                f"{self._name} answered with {what} that is not JSON.", f"Is {self.root} the address of the server?"
            ) from None

    def _read(self, response: Any) -> bytes:
        pieces: list[bytes] = []
        size = 0
        while piece := response.read(_PIECE):
            pieces.append(piece)
            size += len(piece)
            if size > LARGEST_ANSWER or self.done + size > LARGEST_RUN:
                limit = LARGEST_ANSWER if size > LARGEST_ANSWER else LARGEST_RUN
                raise UnreadableError(
                    f"{self._name} answered with more than {limit >> 20} MiB.", "Export the run and read the file."
                )
        if getattr(response, "length", None):
            raise UnreadableError(f"{self._name} broke off in the middle of its answer.", "Try again.")
        self.done += size
        return b"".join(pieces)

    @property
    def _name(self) -> str:
        return f"{self.title} at {_host(self.root)}"

    def _refusal(self, code: int) -> InputError | UnreadableError:
        if code in {401, 403}:
            given = "refuses the credentials given" if self.headers else "wants credentials and none are set"
            return InputError(f"{self._name} {given} (HTTP {code}).", f"They are read from {self.keys}.")
        if code == 404:
            return InputError(f"{self._name} has no such run (HTTP 404).", "Check the address and who may see the run.")
        hint = "Wait a little and try again." if code == 429 or code >= 500 else "Export the run and read the file."
        return UnreadableError(f"{self._name} refused with HTTP {code}.", hint)

    def _unreachable(self, error: Exception) -> UnreadableError:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(reason, TimeoutError):
            return UnreadableError(
                f"{self._name} did not answer within {PATIENCE_S:g} seconds.", "Try again, or export the run."
            )
        why = self.said(getattr(reason, "strerror", None) or str(reason) or type(reason).__name__)
        return UnreadableError(f"{self._name} cannot be reached: {why}.", "Check the address and the connection.")


def _host(address: str) -> str:
    return urlsplit(address).netloc.rpartition("@")[2]
