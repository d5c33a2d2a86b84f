"""A page to label on: one self-contained file, no server, nothing loaded; the labels leave it as a download.

Texts of samples are cleaned line by line, then escaped. Rewards are not in the page at all.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files

from ... import __version__
from ...audit.labels.queue import Item
from ...audit.labels.session import SCALE
from ..html import asset, environment
from .words import parts_of

WORDS = {"1": "bad", "2": "poor", "3": "unsure", "4": "fair", "5": "good"}


def page(items: Sequence[Item], *, labeller: str = "anonymous", mask: bool = False) -> str:
    """Return a page on which `labeller` can label the items; the name can be changed there."""
    from markupsafe import Markup, escape

    script = _read("page.js")
    shown = [
        {
            "content": item.content,
            "also": " ".join(item.also),
            "drawn": "1" if item.drawn else "",
            "parts": [
                {"title": p.title, "text": Markup("\n").join(escape(line) for line in p.lines)}
                for p in parts_of(item, mask)
            ],
        }
        for item in items
    ]
    mark = sha256(" ".join(i.content for i in items).encode()).hexdigest()[:16]
    return (
        environment()
        .from_string(_read("page.html"))
        .render(
            items=shown,
            labeller=labeller,
            scale=[{"key": key, "score": score, "word": WORDS[key]} for key, score in SCALE.items()],
            css=asset("report.css"),
            own_css=Markup(_read("page.css")),  # noqa: S704 - a file of this package, never data
            js=Markup(script),  # noqa: S704 - a file of this package, never data
            js_hash=b64encode(sha256(script.encode()).digest()).decode(),
            mark=mark,
            version=__version__,
        )
    )


def _read(name: str) -> str:
    return files("firstbreak.report.labelling").joinpath(name).read_text("utf-8")
