"""`firstbreak explain`: the page of a rule, a metric, a cause, a link of the loop or a topic."""

from __future__ import annotations

import argparse

from . import terminal
from .rules import LINKS

TOPICS = ("links", "json", "symptoms", "settings")
"""Pages that come with the skill."""
METRICS = "metrics"
"""The topic that is made from the vocabulary: what a key of a log may be mapped to."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = f"topics: {', '.join((*TOPICS, METRICS))}"
    what = "a rule or check (name or code), a metric, a cause, a link of the loop or a topic"
    parser.add_argument("name", metavar="NAME", help=what)


def run(args: argparse.Namespace) -> int:
    """Print the page; return the exit status."""
    from ..report import pages

    name = args.name.strip()
    if name.lower() in TOPICS:
        from .skill import reference

        terminal.say(reference(name.lower()))
        return 0
    if name.lower() == METRICS:
        terminal.say(pages.metrics_table(terminal.face()))
        return 0
    if name.lower() in LINKS:
        terminal.say(_link(name.lower()))
        return 0
    terminal.say(pages.explain(name, TOPICS, terminal.face()))
    return 0


def _link(name: str) -> str:
    """Return what a link of the loop asks, where to look first, and its rules."""
    from ..registry import all_rules
    from ..report import pages
    from .skill import reference

    row = next(line for line in reference("links").splitlines() if line.startswith(f"| `{name}` |"))
    _, _, asks, first, *_ = (cell.strip() for cell in row.split("|"))
    rules = pages.rules_table([rule for rule in all_rules() if rule.link.value == name], terminal.face())
    head = f"{name}, a link of the training loop: {asks}\nLook at first: {first}."
    return f"{head}\nThe whole loop: firstbreak explain links.\n{rules}"
