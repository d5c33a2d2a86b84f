"""`firstbreak start`: from a symptom in your words to the looks to make, from the outside in."""

from __future__ import annotations

import argparse

from . import terminal


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("text", nargs="*", metavar="SYMPTOM", help="what you see, for example: reward stays flat")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="face of the answer")


def run(args: argparse.Namespace) -> int:
    """Print where to look; return the exit status."""
    from ..report.start import document, render
    from ..symptoms import match

    text = " ".join(args.text)
    found = match(text)
    if args.format == "json":
        from ..report.json import dumps

        terminal.say(dumps(document(text, found)))
    else:
        terminal.say(render(text, found, terminal.face()))
    return 0
