"""Questions to a server: limits, redirects, what is said when it goes wrong, and that no secret is said."""

from __future__ import annotations

import ssl
import urllib.error
from collections.abc import Callable
from typing import Any

import pytest

from firstbreak.errors import FirstbreakError, InputError, UnreadableError
from firstbreak.readers.protocol import Options
from firstbreak.readers.remote import fetch, http
from firstbreak.readers.remote.http import Server, basic, origin

from .conftest import Stub, json_answer

Serve = Callable[..., Stub]
SECRET = "k3y-of-mine"


def server(root: str, **settings: Any) -> Server:
    headers = {"Authorization": f"Bearer {SECRET}"}
    return Server(root, "the server", "the environment: KEY", headers, (SECRET,), **settings)


def failing(error: Exception) -> Server:
    def open_(request: Any, timeout: float) -> Any:
        raise error

    return server("https://h.example", open=open_)


def test_json_is_asked_for_and_counted(serve: Serve) -> None:
    stub = serve(lambda asked: json_answer({"a": "NaN"}))
    asking = server(stub.root)
    assert asking.get("/x", {"q": "a b/c"}) == {"a": "NaN"}
    assert asking.post("/y", b"{}") == {"a": "NaN"}
    assert [a.target for a in stub.asked] == ["/x?q=a+b%2Fc", "/y"]
    assert stub.asked[0].headers["User-Agent"].startswith("firstbreak/")
    assert stub.asked[1].headers["Content-Type"] == "application/json"
    assert asking.done == 2 * len(b'{"a": "NaN"}')


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (TimeoutError(), "did not answer within 30 seconds"),
        (urllib.error.URLError(TimeoutError("timed out")), "did not answer within 30 seconds"),
        (urllib.error.URLError(ConnectionRefusedError(111, "Connection refused")), "Connection refused"),
        (urllib.error.URLError(ssl.SSLCertVerificationError("self-signed certificate")), "self-signed"),
        (ConnectionResetError(104, "Connection reset by peer"), "reset by peer"),
        (urllib.error.URLError(OSError(f"\x1b[31mno route for {SECRET}\n")), "cannot be reached:  \\[31mno route for "),
        (ValueError(f"Invalid header value b'{SECRET}'"), r"Invalid header value b'\*\*\*'"),
    ],
)
def test_a_server_that_cannot_be_reached(error: Exception, said: str) -> None:
    with pytest.raises(UnreadableError, match=said) as caught:
        failing(error).get("/x", {})
    assert "h.example" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (401, InputError, "refuses the credentials"),
        (403, InputError, "refuses the credentials"),
        (404, InputError, "no such run"),
        (429, UnreadableError, "HTTP 429"),
        (500, UnreadableError, "HTTP 500"),
        (418, UnreadableError, "HTTP 418"),
    ],
)
def test_a_refusal_is_told_without_what_the_server_says(
    serve: Serve, status: int, kind: type[FirstbreakError], said: str
) -> None:
    stub = serve(lambda asked: (status, {}, str(asked.headers).encode()))
    with pytest.raises(kind, match=said) as caught:
        server(stub.root).get("/x", {})
    assert SECRET in stub.asked[0].headers["Authorization"]
    assert SECRET not in str(caught.value)


def test_a_web_page_instead_of_json(serve: Serve) -> None:
    stub = serve(lambda asked: (200, {"Content-Type": "text/html"}, b"\n<!doctype html><title>Log in</title>"))
    with pytest.raises(UnreadableError, match="a web page that is not JSON"):
        server(stub.root).get("/x", {})


def test_a_huge_answer_is_not_read_to_its_end(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LARGEST_ANSWER", 1 << 20)
    asking = server(serve(lambda asked: (200, {}, b" " * (3 << 20))).root)
    with pytest.raises(UnreadableError, match="more than 1 MiB"):
        asking.get("/x", {})


def test_all_answers_of_a_run_together_have_a_limit_too(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LARGEST_RUN", 1 << 20)
    asking = server(serve(lambda asked: (200, {}, b"1" + b" " * (600 << 10))).root)
    assert asking.get("/x", {}) == 1
    with pytest.raises(UnreadableError, match="more than 1 MiB"):
        asking.get("/x", {})


def test_an_answer_that_breaks_off(serve: Serve) -> None:
    asking = server(serve(lambda asked: (200, {"Content-Length": "99"}, b"{}")).root)
    with pytest.raises(UnreadableError, match="broke off"):
        asking.get("/x", {})


def test_redirects_to_another_server_are_not_followed(serve: Serve) -> None:
    thief = serve(lambda asked: json_answer("got it"))
    stub = serve(lambda asked: (302, {"Location": f"{thief.root}/x"}, b""))
    with pytest.raises(InputError, match="redirects to others are not followed"):
        server(stub.root).get("/x", {})
    assert thief.asked == []
    with pytest.raises(UnreadableError):
        server(serve(lambda asked: (302, {"Location": "file:///etc/hostname"}, b"")).root).get("/x", {})


def test_redirects_within_a_server_are(serve: Serve) -> None:
    def answer(asked: Any) -> Any:
        return (302, {"Location": "/new"}, b"") if asked.target.startswith("/x") else json_answer("here")

    assert server(serve(answer).root).get("/x", {}) == "here"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("HTTPS://Wandb.AI/a", ("https", "wandb.ai", 443)),
        ("http://[::1]:5000/#/x", ("http", "::1", 5000)),
        ("http://h", ("http", "h", 80)),
    ],
)
def test_the_origin_of_an_address(address: str, expected: tuple[str, str, int]) -> None:
    assert origin(address) == expected


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "http://", "http://h:99999/", "http://a b/", "http://h/\r\nX: y", "http://[::1"]
)
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(InputError, match="not of the form"):
        origin(address)


@pytest.mark.parametrize(
    "address",
    [
        f"http://me:{SECRET}@h/#/experiments/1/runs/a",
        f"mlflow+http://me:{SECRET}@h/#/experiments/1/runs/a",
        f"https://{SECRET}@wandb.ai/e/p/runs/x",
    ],
)
def test_credentials_in_an_address_are_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(InputError, match="holds a user name or a password") as caught:
        fetch(address, Options())
    assert SECRET not in str(caught.value)


def test_an_address_of_something_else() -> None:
    with pytest.raises(InputError, match=r"(?s)not that of a run.*https://wandb\.ai/ENTITY"):
        fetch("https://example.org/index.html", Options())


def test_basic_credentials() -> None:
    assert basic("api", "key") == "Basic YXBpOmtleQ=="
