"""`firstbreak rules`: the list of rules."""

from __future__ import annotations

import argparse

from . import terminal

LINKS = (
    "environment_data",
    "evaluation_protocol",
    "reward_signal",
    "critic",
    "policy_update",
    "exploration",
    "data_freshness",
    "numerics",
    "system_resources",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument(
        "--link", choices=LINKS, metavar="LINK", help=f"only the rules of this link: {', '.join(LINKS)}"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="face of the list")


def run(args: argparse.Namespace) -> int:
    """Print the rules; return the exit status."""
    from ..finding import LOOP
    from ..registry import all_rules

    order = {link: i for i, link in enumerate(LOOP)}
    rules = sorted((r for r in all_rules() if args.link in (None, r.link.value)), key=lambda r: (order[r.link], r.code))
    if args.format == "text":
        from ..report.pages import rules_table

        terminal.say(rules_table(rules, terminal.face()).lstrip("\n"))
        return 0
    from ..report.json import SCHEMA_VERSION, dumps

    fields = ("code", "name", "claim", "needs", "any_of", "needs_config", "when", "implies", "static", "since")
    listed = [
        {f: getattr(r, f) for f in fields}
        | {"link": r.link.value, "component": r.component.value, "severity": r.severity.value, "status": r.status.value}
        for r in rules
    ]
    terminal.say(dumps({"schema_version": SCHEMA_VERSION, "rules": listed}))
    return 0
