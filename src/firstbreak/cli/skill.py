"""`firstbreak skill`: the instructions for coding agents that come with firstbreak."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import terminal

FOLDER = Path(__file__).parent.parent / "skills" / "firstbreak"


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("--list", action="store_true", help="list the reference pages")
    parser.add_argument("--reference", metavar="NAME", help="print one reference page")


def run(args: argparse.Namespace) -> int:
    """Print the skill, a reference page, or their list; return the exit status."""
    if args.list:
        terminal.say("\n".join(names()))
    elif args.reference:
        terminal.say(reference(args.reference))
    else:
        terminal.say((FOLDER / "SKILL.md").read_text("utf-8"))
    return 0


def names() -> list[str]:
    """Return the names of the reference pages."""
    return sorted(path.stem for path in (FOLDER / "references").glob("*.md"))


def reference(name: str) -> str:
    """Return the text of a reference page.

    Raises:
        UnknownNameError: there is none of that name.
    """
    from ..errors import unknown_name

    wanted = name.removesuffix(".md").lower()
    if wanted not in names():
        raise unknown_name("reference page", name, names())
    return (FOLDER / "references" / f"{wanted}.md").read_text("utf-8")
