"""One POST with the standard library: TLS verified, bounded in time, no redirect followed, no secret in any error."""

from __future__ import annotations

import http.client
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ...errors import InputError
from .alert import AlertError
from .deadline import Http, Https, Unanswered

_AGAIN = frozenset({408, 425, 429})
"""Refusals of the 4xx kind that pass by themselves."""
_LONGEST_WAIT_S = 600.0
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def to_json(payload: Any) -> bytes:
    """Return `payload` as ASCII JSON; what JSON cannot hold is written as text."""
    return json.dumps(payload, default=str).encode("ascii")


def where(url: str) -> str:
    """Return the part of an address that may be shown: scheme, host and port."""
    parts = _split(url)
    return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")


def check_address(url: str, *, confidential: bool) -> None:
    """Refuse an address that nothing can be sent to, without repeating it.

    Args:
        url: The address.
        confidential: Whether it is a secret or a token goes with it: then only https will do, or this machine.

    Raises:
        InputError: another scheme than http or https, no host, a password inside, or http for something confidential.
    """
    parts = _split(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError("The address of a webhook must begin with https:// (or http://) and name a host.")
    if parts.username is not None or parts.password is not None:
        raise InputError(
            "The address of a webhook holds a user name or a password.",
            "Leave them out; a token is read from the environment (token_from='FIRSTBREAK_TOKEN').",
        )
    if confidential and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise InputError(
            f"A secret would go to {where(url)} unencrypted.", "Use an https:// address, or a proxy on this machine."
        )


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        parts = None
    if (
        parts is None or not (url.isascii() and url.isprintable()) or " " in url
    ):  # raised out here: an error's context would hold the address
        raise InputError("The address of a webhook cannot be read.", "Check it for typing errors, blanks and accents.")
    return parts


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the notice and the token are for the host that the user named."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def _opener(parts: SplitResult) -> urllib.request.OpenerDirector:
    """Return an opener for http or https and nothing else; this machine is never asked through a proxy."""
    opener = urllib.request.OpenerDirector()
    if parts.scheme == "https":
        opener.add_handler(Https(context=ssl.create_default_context()))
    else:
        opener.add_handler(Http())
    if parts.hostname not in _LOOPBACK:
        opener.add_handler(urllib.request.ProxyHandler())
    for kind in (_StayHere, urllib.request.HTTPDefaultErrorHandler, urllib.request.HTTPErrorProcessor):
        opener.add_handler(kind())
    return opener


def post(url: str, body: bytes, headers: Mapping[str, str], timeout_s: float) -> None:
    """Send `body` to `url` and wait for an answer.

    Raises:
        AlertError: the answer is no 2xx, or there was no whole one within `timeout_s`; what was sent in full then is
            not to be sent again, as it may have arrived.
    """
    failure: AlertError | None = None
    try:
        request = urllib.request.Request(url, data=body, headers=dict(headers), method="POST")  # noqa: S310 - checked
        _opener(_split(url)).open(request, timeout=timeout_s).close()
    except urllib.error.HTTPError as error:
        with error:
            failure = _refused(where(url), error.code, error.headers.get("Retry-After", ""))
    except Exception as error:
        failure = _unreached(where(url), error, timeout_s)
    if failure is not None:  # raised out here, so that no context with the address goes with it
        raise failure


def _refused(host: str, status: int, retry_after: str) -> AlertError:
    if 300 <= status < 400:
        return AlertError(
            f"{host} answered {status}: a redirect, which is not followed.", "Give the final address.", again=False
        )
    again = status >= 500 or status in _AGAIN
    wait_s = min(float(retry_after), _LONGEST_WAIT_S) if retry_after.isdecimal() else 0.0
    reason = http.client.responses.get(status, "unknown status")
    hint = "" if again else "Check the address and the token."
    return AlertError(f"{host} answered {status} ({reason}).", hint, again=again, wait_s=wait_s)


def _unreached(host: str, error: Exception, timeout_s: float) -> AlertError:
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return AlertError(f"The certificate of {host} could not be verified.", "Nothing was sent.", again=False)
    if isinstance(cause, Unanswered):
        silent = f"{host} was sent everything and did not answer within {timeout_s:g} s; it is not sent again."
        return AlertError(silent, "It may have arrived: look there.", again=False)
    if isinstance(cause, TimeoutError):
        return AlertError(f"{host} did not answer within {timeout_s:g} s.")
    if isinstance(cause, ConnectionRefusedError):
        return AlertError(f"{host} refused the connection.")
    return AlertError(f"{host} could not be reached ({type(cause).__name__}).")
