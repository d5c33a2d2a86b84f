"""`firstbreak preflight memory`: does a plan fit?"""

from __future__ import annotations

import argparse

from .inspecting import STATUS, add_output, show


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.epilog = f"""\
PLAN is a TOML file with the models, precision, optimiser, sharding, batch and lengths of a run; see
docs/how-to/plan_memory.md for an example.

{STATUS}"""
    parser.add_argument("plan", metavar="PLAN", help="a TOML file")
    add_output(parser, again=True)


def run(args: argparse.Namespace) -> int:
    """Inspect and print; return the exit status."""
    from ..preflight.memory.api import inspect_memory

    return show(args, [inspect_memory(args.plan)])
