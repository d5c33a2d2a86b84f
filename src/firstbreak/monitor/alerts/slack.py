"""`Slack`: notices to an incoming webhook of Slack, or of a chat that takes the same (Mattermost, Discord `/slack`)."""

from __future__ import annotations

from ..verdict import Notice
from . import secret
from .http_post import check_address, post, to_json
from .nine import classic_of, level_of
from .plain import brief, clip

_LONGEST = 3000
"""Characters of a message; Slack cuts long ones."""


class Slack:
    """Posts to the webhook whose address is in an environment variable: that address is a secret.

    Args:
        url_from: The name of the variable.
        timeout_s: How long to wait for an answer.

    Raises:
        InputError: the variable is not set, or holds no usable address.
    """

    per_minute: int | None = 20

    def __init__(self, url_from: str = "FIRSTBREAK_SLACK_WEBHOOK", *, timeout_s: float = 5.0) -> None:
        self.url_from = secret.require(url_from, "The address of the Slack webhook")
        self.timeout_s = timeout_s
        check_address(secret.read(url_from), confidential=True)

    def __repr__(self) -> str:
        return f"Slack(url_from={self.url_from!r})"

    def send(self, notice: Notice) -> None:
        """Post `notice`.

        Raises:
            AlertError: it was not accepted.
        """
        url = secret.read(self.url_from)
        check_address(url, confidential=True)
        body = to_json({"text": message(notice), "unfurl_links": False, "unfurl_media": False})
        post(url, body, {"Content-Type": "application/json", "User-Agent": "firstbreak"}, self.timeout_s)


def message(notice: Notice) -> str:
    """Return a notice as text for a chat. What the run says stands in a code block: no mentions, links or images."""
    lines = [
        notice.title,
        *notice.text[:_LONGEST].split("\n"),
        f"run {notice.run}, {notice.place}, {notice.name}",
    ]
    inside = clip("\n".join(brief(line, _LONGEST) for line in lines if line.strip()), _LONGEST)
    inside = inside.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("`", "'")
    classic = classic_of(notice)
    return f"*{level_of(notice)}* {classic.title if classic else 'firstbreak'}\n```\n{inside}\n```"
