"""`firstbreak compare`: where two runs part."""

from __future__ import annotations

import argparse

from . import terminal


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = "exit status: 0 the runs stay together, 1 they part, 2 bad input, 3 nothing can be compared"
    parser.add_argument("a", metavar="A", help="a run")
    parser.add_argument("b", metavar="B", help="its twin")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="face of the report")


def run(args: argparse.Namespace) -> int:
    """Compare and print; return the exit status."""
    from ..api import compare
    from ..report.comparison import document, outcome, render

    comparison = compare(args.a, args.b)
    if args.format == "json":
        from ..report.json import dumps

        terminal.say(dumps(document(comparison)))
    else:
        terminal.say(render(comparison, terminal.face()))
    return {"together": 0, "diverged": 1}.get(outcome(comparison), 3)
