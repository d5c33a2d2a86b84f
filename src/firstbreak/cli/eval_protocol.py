"""`firstbreak eval protocol init|check|diff|hash`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from . import terminal
from .arguments import Parser
from .eval_output import add_format, show
from .exit_status import FOUND, OK

if TYPE_CHECKING:
    from ..report.page import Page

KINDS: dict[str, tuple[str, ...]] = {
    "language": ("evaluation", "generation"),
    "agent": ("evaluation", "generation", "tools"),
    "control": ("evaluation", "control"),
    "games": ("evaluation", "control", "games"),
}
"""What `init` writes for each kind of task."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    kinds: Any = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=Parser)
    init = kinds.add_parser("init", help="write an example to fill in")
    init.add_argument("file", metavar="FILE")
    init.add_argument("--kind", choices=KINDS, default="language", help="kind of task (default: %(default)s)")
    init.add_argument("--replace", action="store_true", help="write over a file that exists")
    check = kinds.add_parser("check", help="say whether a protocol is complete, and what it leaves open")
    check.add_argument("file", metavar="FILE")
    text = "whether the packages that control.environment_version names are here in these versions"
    check.add_argument("--installed", action="store_true", help=text)
    check.add_argument("--train-environment", metavar="ID", help="the environment that training used")
    add_format(check)
    one = kinds.add_parser("hash", help="print the fingerprint")
    one.add_argument("file", metavar="FILE")
    two = kinds.add_parser("diff", help="name the fields in which two protocols differ; exit 1 if any")
    two.add_argument("one", metavar="FILE")
    two.add_argument("other", metavar="FILE")
    add_format(two)


def run(args: argparse.Namespace) -> int:
    """Do what was asked; return the exit status."""
    if args.action is None:
        raise InputError("Nothing to do.", "Say what: init, check, hash or diff.")
    return {"init": _init, "check": _check, "hash": _hash, "diff": _diff}[args.action](args)


def _init(args: argparse.Namespace) -> int:
    from ..evaluation.protocol.protocol import example

    path = Path(args.file)
    if path.exists() and not args.replace:
        raise InputError(f"{path} exists.", "Choose another name, or add --replace.")
    terminal.note(terminal.save(example(KINDS[args.kind]), path))
    return OK


def _hash(args: argparse.Namespace) -> int:
    from ..evaluation.protocol.protocol import read

    terminal.say(read(Path(args.file)).hash)
    return OK


def _check(args: argparse.Namespace) -> int:
    from ..evaluation.protocol.protocol import read
    from ..evaluation.versions import environment_mismatch, installed, mismatches, versions_in
    from ..report.evaluation import environment, protocol

    found = read(Path(args.file))
    control = found.values.get("control", {})
    if (args.installed or args.train_environment) and not control:
        raise InputError(f"{args.file}: no [control] section.", "Only there an environment and its version are named.")
    wanted = versions_in(control.get("environment_version", "")) if args.installed else {}
    if args.installed and not wanted:
        raise InputError(
            f"{args.file}: control.environment_version names no package with a version.",
            'For example: environment_version = "gymnasium 1.2.0, mujoco 3.3.0"',
        )
    packages = mismatches(wanted, installed(wanted))
    other = environment_mismatch(args.train_environment, control["environment"]) if args.train_environment else ""
    asked = bool(wanted or args.train_environment)

    def draw(page: Page) -> None:
        protocol.draw(page, found)
        if asked:
            environment.draw_versions(page, packages, other)

    more = environment.versions_data(packages, other) if asked else {}
    show(args, draw, {**protocol.data(found), **more})
    return FOUND if packages or other else OK


def _diff(args: argparse.Namespace) -> int:
    from ..evaluation.protocol.protocol import differences, read
    from ..report.evaluation import protocol as face

    found = differences(read(Path(args.one)), read(Path(args.other)))
    show(args, lambda page: face.draw_differences(page, found), {"differences": {k: list(v) for k, v in found.items()}})
    return FOUND if found else OK
