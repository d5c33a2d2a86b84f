"""`Webhook`: notices as JSON to any address."""

from __future__ import annotations

import hashlib
import hmac

from ...errors import InputError
from ..verdict import Notice
from . import secret
from .http_post import check_address, post, to_json, where


class Webhook:
    """Posts `Notice.to_dict()` as JSON. Redirects are not followed; https certificates are verified.

    A notice that is sent again, after a refusal that passes, has the same `id`, which is also the `Idempotency-Key`.

    Args:
        url: The address. Errors show its scheme, host and port only.
        url_from: Instead of `url`, the name of an environment variable that holds the address.
        token_from: The name of a variable whose value is sent as `Authorization: Bearer ...`.
        sign_from: The name of a variable with a key; the header `X-Firstbreak-Signature: sha256=...` is then the
            HMAC-SHA256 of the body in hexadecimal digits.
        timeout_s: How long to wait for an answer.

    Raises:
        InputError: both addresses or none, a variable that is not set, or a secret that would go out unencrypted.
    """

    def __init__(
        self, url: str = "", *, url_from: str = "", token_from: str = "", sign_from: str = "", timeout_s: float = 5.0
    ) -> None:
        if bool(url) == bool(url_from):
            raise InputError("A Webhook needs an address.", "Give either url or url_from, the name of a variable.")
        self._url = url
        self.url_from = url_from and secret.require(url_from, "The address of the webhook")
        self.token_from = token_from and secret.require(token_from, "The token of the webhook")
        self.sign_from = sign_from and secret.require(sign_from, "The signing key of the webhook")
        self.timeout_s = timeout_s
        self._address()

    def _address(self) -> str:
        url = self._url or secret.read(self.url_from)
        check_address(url, confidential=bool(self.url_from or self.token_from))
        return url

    def __repr__(self) -> str:
        shown = f"url_from={self.url_from!r}" if self.url_from else repr(where(self._url))
        return f"Webhook({shown})"

    def send(self, notice: Notice) -> None:
        """Post `notice`.

        Raises:
            AlertError: it was not accepted.
        """
        body = to_json(notice.to_dict())
        headers = {"Content-Type": "application/json", "User-Agent": "firstbreak", "Idempotency-Key": notice.id}
        if self.token_from:
            headers["Authorization"] = f"Bearer {secret.read(self.token_from)}"
        if self.sign_from:
            key = secret.read(self.sign_from).encode("ascii")
            headers["X-Firstbreak-Signature"] = "sha256=" + hmac.new(key, body, hashlib.sha256).hexdigest()
        post(self._address(), body, headers, self.timeout_s)
