"""`firstbreak checks`: the list of checks made before a run."""

from __future__ import annotations

import argparse

from . import terminal


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    from ..check import FAMILIES

    parser.add_argument(
        "--family", choices=FAMILIES, metavar="FAMILY", help=f"only the checks of this family: {', '.join(FAMILIES)}"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="face of the list")


def run(args: argparse.Namespace) -> int:
    """Print the checks; return the exit status."""
    from ..check import all_checks

    checks = [c for c in all_checks() if args.family in (None, c.family)]
    if args.format == "text":
        from ..report.pages import checks_table

        terminal.say(checks_table(checks, terminal.face()).lstrip("\n"))
        return 0
    from ..report.json import SCHEMA_VERSION, dumps

    fields = ("code", "name", "family", "claim", "fix", "explained_by", "since")
    listed = [
        {f: getattr(c, f) for f in fields}
        | {"link": c.link.value, "component": c.component.value, "severity": c.severity.value}
        for c in checks
    ]
    terminal.say(dumps({"schema_version": SCHEMA_VERSION, "checks": listed}))
    return 0
