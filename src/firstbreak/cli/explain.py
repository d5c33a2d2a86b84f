"""`firstbreak explain`: the page of a rule, a metric, a cause or a topic."""

from __future__ import annotations

import argparse

from . import terminal

TOPICS = ("links", "json", "symptoms", "settings")
"""Pages that come with the skill."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = f"topics: {', '.join(TOPICS)}"
    parser.add_argument("name", metavar="NAME", help="a rule (name or code), a metric, a cause or a topic")


def run(args: argparse.Namespace) -> int:
    """Print the page; return the exit status."""
    from ..report import pages

    name = args.name.strip()
    if name.lower() in TOPICS:
        from .skill import reference

        terminal.say(reference(name.lower()))
        return 0
    terminal.say(pages.explain(name, TOPICS, terminal.face()))
    return 0
