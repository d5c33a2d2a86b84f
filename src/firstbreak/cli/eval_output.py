"""What the `eval` commands share: how an answer is shown."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import terminal

if TYPE_CHECKING:
    from ..report.page import Page


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how the answer is shown."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="face of the answer")
    parser.add_argument("--output", metavar="FILE", help="write the answer there instead of printing it")


def show(args: argparse.Namespace, draw: Callable[[Page], None], data: Mapping[str, Any]) -> None:
    """Print or write an answer as text or as JSON."""
    if args.format == "json":
        from .. import __version__
        from ..report.json import SCHEMA_VERSION, dumps

        text = dumps({"schema_version": SCHEMA_VERSION, "tool_version": __version__, **data})
    else:
        from ..report.page import PLAIN, Page

        page = Page(PLAIN if args.output else terminal.face())
        draw(page)
        text = page.text()
    if args.output:
        terminal.note(terminal.save(text, Path(args.output)))
    else:
        terminal.say(text)
