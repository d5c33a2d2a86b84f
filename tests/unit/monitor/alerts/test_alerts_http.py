"""Slack and webhook against a real server on this machine: accepted, refused, silent, gone, redirecting."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firstbreak.errors import InputError
from firstbreak.monitor.alerts import AlertError, Post, Slack, Webhook
from firstbreak.monitor.verdict import Notice

Make = Callable[..., Notice]
LONG_S = 20.0
SECRET = "s3cr3tT0ken"


@pytest.fixture
def slack(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Slack]:
    def make(url: str) -> Slack:
        monkeypatch.setenv("FIRSTBREAK_SLACK_WEBHOOK", f"{url}/{SECRET}")
        return Slack(timeout_s=2.0)

    return make


def test_slack_gets_a_text(make_notice: Make, serve: Any, slack: Any) -> None:
    web = serve(200)
    slack(web.url).send(make_notice())
    assert web.paths == [f"/hook/{SECRET}"]
    assert web.headers[0]["Content-Type"] == "application/json"
    body = json.loads(web.bodies[0])
    assert set(body) == {"text", "unfurl_links", "unfurl_media"}
    assert body["text"].startswith("*ERROR* firstbreak\n```\nkl-overshoot at update 120")


def test_a_webhook_gets_the_notice_as_json_with_token_and_signature(
    make_notice: Make, serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", f"  {SECRET}\n")
    monkeypatch.setenv("MY_KEY", "k3y")
    web = serve(204)
    notice = make_notice(title="漢\ud800\x1b", evidence={"x_frac": float("nan")})
    Webhook(web.url, token_from="MY_TOKEN", sign_from="MY_KEY").send(notice)
    assert json.loads(web.bodies[0]) == json.loads(json.dumps(notice.to_dict()))
    assert web.headers[0]["Authorization"] == f"Bearer {SECRET}"
    digest = hmac.new(b"k3y", web.bodies[0], hashlib.sha256).hexdigest()
    assert web.headers[0]["X-Firstbreak-Signature"] == f"sha256={digest}"


def test_without_token_and_key_no_such_header_is_sent(make_notice: Make, serve: Any) -> None:
    web = serve(200)
    Webhook(web.url).send(make_notice())
    assert not {"Authorization", "X-Firstbreak-Signature"} & set(web.headers[0])


def test_a_server_that_recovers_gets_the_notice(make_notice: Make, serve: Any, clock: Any) -> None:
    web = serve(500, 503, 200)
    post = Post([Webhook(web.url)], sleep=clock.sleep, now=clock.now)
    post.send(make_notice())
    assert post.drain(LONG_S)
    assert len(web.bodies) == 3
    assert len(set(web.bodies)) == 1
    assert post.faults == []
    post.close()


def test_a_server_may_say_how_long_to_wait(make_notice: Make, serve: Any, clock: Any) -> None:
    web = serve((429, {"Retry-After": "37"}), 200)
    post = Post([Webhook(web.url)], sleep=clock.sleep, now=clock.now)
    post.send(make_notice())
    assert post.drain(LONG_S)
    assert clock.slept == [37.0]
    post.close()


@pytest.mark.parametrize(("asked", "waited_s"), [("999999999", 600.0), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0)])
def test_what_a_server_asks_for_is_bounded(make_notice: Make, serve: Any, asked: str, waited_s: float) -> None:
    with pytest.raises(AlertError) as caught:
        Webhook(serve((503, {"Retry-After": asked})).url).send(make_notice())
    assert caught.value.wait_s == waited_s


@pytest.mark.parametrize(
    ("status", "again"), [(400, False), (401, False), (403, False), (404, False), (408, True), (429, True), (599, True)]
)
def test_a_refusal_says_the_status_and_whether_to_try_again(
    make_notice: Make, serve: Any, status: int, again: bool
) -> None:
    with pytest.raises(AlertError, match=f"127.0.0.1:[0-9]+ answered {status} ") as caught:
        Webhook(serve(status).url).send(make_notice())
    assert caught.value.again is again


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(
    make_notice: Make, serve: Any, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", SECRET)
    elsewhere = serve(200)
    web = serve((status, {"Location": elsewhere.url}))
    with pytest.raises(AlertError, match="redirect") as caught:
        Webhook(web.url, token_from="MY_TOKEN").send(make_notice())
    assert not caught.value.again
    assert len(web.bodies) == 1
    assert elsewhere.bodies == []


def test_a_server_that_never_answers_is_left_after_the_timeout(make_notice: Make, silent_url: str) -> None:
    with pytest.raises(AlertError, match=r"did not answer within 0\.05 s") as caught:
        Webhook(silent_url, timeout_s=0.05).send(make_notice())
    assert not caught.value.again, "it may have arrived"


def trickle(listening: socket.socket, over: threading.Event, head: bytes) -> None:
    """Take a request and answer with `head`, then a byte now and then, for as long as anybody listens."""
    with listening.accept()[0] as peer:
        whole(peer)
        try:
            peer.sendall(head)
            while not over.wait(0.02):
                peer.sendall(b"x")
        except OSError:
            over.set()


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nX: "], ids=["status", "header"])
def test_a_server_that_trickles_is_left_after_the_timeout_and_is_not_sent_the_notice_again(
    make_notice: Make, clock: Any, head: bytes
) -> None:
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=trickle, args=(listening, over, head))
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        post = Post([Webhook(url, timeout_s=0.2)], sleep=clock.sleep, now=clock.now)
        post.send(make_notice())
        drained = post.drain(LONG_S)
        over.set()
        thread.join()
    assert drained
    (fault,) = post.faults
    assert "was sent everything and did not answer within 0.2 s" in fault
    assert (post.standing()[0].lost, clock.slept) == (1, [])
    post.close()


def test_a_notice_that_is_sent_again_has_the_same_id_and_another_one_another(
    make_notice: Make, serve: Any, clock: Any
) -> None:
    web = serve(503, 200)
    post = Post([Webhook(web.url)], sleep=clock.sleep, now=clock.now)
    post.send(make_notice())
    post.send(make_notice(step=121.0))
    assert post.drain(LONG_S)
    post.close()
    first, again, other = (json.loads(body)["id"] for body in web.bodies)
    assert first == again != other
    assert [headers["Idempotency-Key"] for headers in web.headers] == [first, again, other]


def test_a_closed_port_is_named(make_notice: Make, closed_url: str) -> None:
    with pytest.raises(AlertError, match="refused the connection") as caught:
        Webhook(closed_url).send(make_notice())
    assert caught.value.again


def whole(peer: socket.socket) -> bytes:
    """Read a request to the end of its JSON: a server that hangs up earlier may be met with a broken pipe."""
    text = b""
    while not text.endswith(b"}") and (more := peer.recv(65536)):
        text += more
    return text


def test_an_answer_that_is_no_http_is_an_error(make_notice: Make, tmp_path: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def babble() -> None:
            with listening.accept()[0] as peer:
                whole(peer)
                peer.sendall(b"\x00\xffnonsense\r\n\r\n")

        thread = threading.Thread(target=babble)
        thread.start()
        with pytest.raises(AlertError, match=r"could not be reached \(BadStatusLine\)"):
            Webhook(f"http://127.0.0.1:{listening.getsockname()[1]}").send(make_notice())
        thread.join()


SIGNED_BY_ITSELF = (
    "MIIBkDCCATagAwIBAgIUVoGLFDvUS3+zXdLiMXqmCmnzq5kwCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2"
    "MTEyMTE2MTI1OFoYDzIxMjYxMDI4MTYxMjU4WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC"
    "AASTDwNUh7MVyNqYf8mqxngI1HK9Jjc5lvJnaYCL2UlhMqgOhKtklBB78KECEjxAfbX7dzWFUkwn8loFmIaJiBtZo2QwYjAdBgNV"
    "HQ4EFgQU62V5KUzkxGXkzGn602QZnKiHR20wHwYDVR0jBBgwFoAU62V5KUzkxGXkzGn602QZnKiHR20wDwYDVR0TAQH/BAUwAwEB"
    "/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUCIQC+a5GMe9PhXcQb2dnTdUAZp553jyK1ylNbxgdFVZDaggIgZLhK"
    "bv+b/7nAYFQViz87pEV3SSUPwYlNblDiHZ2aU04="
)
ITS_KEY = (
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgHkB2kXWx4ctf1O9hlzgk/K7Ez0MGyy+e0v2vZxa9Jd+hRANCAAST"
    "DwNUh7MVyNqYf8mqxngI1HK9Jjc5lvJnaYCL2UlhMqgOhKtklBB78KECEjxAfbX7dzWFUkwn8loFmIaJiBtZ"
)
"""Made for this test, of no use elsewhere: a certificate for 127.0.0.1 that nobody vouches for."""


def pem(what: str, text: str) -> str:
    return f"-----BEGIN {what}-----\n{text}\n-----END {what}-----\n"


@pytest.mark.parametrize("trusted", [False, True])
def test_a_certificate_is_verified_before_anything_is_sent(
    make_notice: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusted: bool
) -> None:
    (tmp_path / "c.pem").write_text(pem("CERTIFICATE", SIGNED_BY_ITSELF))
    (tmp_path / "both.pem").write_text(pem("PRIVATE KEY", ITS_KEY) + pem("CERTIFICATE", SIGNED_BY_ITSELF))
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "c.pem"))
    monkeypatch.setenv("MY_TOKEN", SECRET)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "both.pem")
    seen: list[bytes] = []

    def serve_once(listening: socket.socket) -> None:
        try:
            with listening.accept()[0] as plain, tls.wrap_socket(plain, server_side=True) as peer:
                seen.append(whole(peer))
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        except OSError:
            pass

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve_once, args=(listening,))
        thread.start()
        alert = Webhook(f"https://127.0.0.1:{listening.getsockname()[1]}/", token_from="MY_TOKEN")
        if trusted:
            alert.send(make_notice())
        else:
            with pytest.raises(AlertError, match="certificate") as caught:
                alert.send(make_notice())
            assert not caught.value.again
        thread.join()
    assert [SECRET.encode() in text for text in seen] == [True] * trusted


@pytest.mark.parametrize(
    "url",
    [
        *(
            "ftp://host/x",
            "file:///etc/passwd",
            "hooks.example/x",
            "http://",
            "https://user:pw@host/x",
            "http://h:99999/",
        ),
        *(
            "https://h/a b",
            "https://h/a\x00b",
            "https://h/a\nb",
            "https://[::1/x",
            "javascript:alert(1)",
            "https://h/ü",
        ),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_unseen(url: str) -> None:
    with pytest.raises(InputError) as caught:
        Webhook(url)
    assert "pw" not in str(caught.value)
    assert "passwd" not in str(caught.value)


def test_a_local_address_is_never_asked_through_a_proxy(
    make_notice: Make, serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy, web = serve(200), serve(200)
    monkeypatch.setenv("http_proxy", proxy.url)
    monkeypatch.delenv("no_proxy", raising=False)
    Webhook(web.url).send(make_notice())
    assert (len(web.bodies), len(proxy.bodies)) == (1, 0)


@pytest.mark.parametrize("made", [Webhook, lambda: Webhook("http://h/x", url_from="X")])
def test_one_address_is_needed(made: Callable[[], Webhook]) -> None:
    with pytest.raises(InputError, match="needs an address"):
        made()
