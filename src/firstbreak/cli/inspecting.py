"""What the commands that inspect something before a run share: output options, faces, exit status."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import terminal
from .exit_status import BAD, FOUND, OK, UNDECIDED

if TYPE_CHECKING:
    from ..inspection import Inspection

FORMATS = ("text", "json", "markdown", "junit", "github", "html")
STATUS = "exit status: 0 nothing at --fail-on or above; 1 findings at --fail-on; 2 bad input; 3 undecided"


def add_output(parser: argparse.ArgumentParser, *, again: bool = False) -> None:
    """Add the options that say how the answer is shown and what it does to the exit status.

    `again`: the command above has them too; what was said there holds unless it is said here.
    """
    first: dict[str, Any] = {"default": argparse.SUPPRESS} if again else {}
    out = parser.add_argument_group("output")
    text: dict[str, Any] = {"default": "text", **first}
    out.add_argument("--format", choices=FORMATS, help="face of the report (default: text)", **text)
    out.add_argument("--output", metavar="FILE", help="write the report there instead of printing it", **first)
    out.add_argument("--html", metavar="FILE", help="write a page as well", **first)
    out.add_argument("--full", action="store_true", help="show all findings, their numbers and every check", **first)
    error: dict[str, Any] = {"default": "error", **first}
    out.add_argument("--fail-on", choices=("error", "warning", "info"), help="exit 1 from here on", **error)
    out.add_argument("--undecided-ok", action="store_true", help="exit 0 instead of 3 when undecided", **first)


def add_limits(parser: argparse.ArgumentParser, seconds: float, silence_s: float = 30.0) -> None:
    """Add the options that limit the child process in which the user's code runs.

    `silence_s` must leave room for what the child does without a sign of life, such as importing PyTorch on a busy
    machine.
    """
    limits = parser.add_argument_group("limits of the child process that runs your code")
    limits.add_argument("--time-limit", type=float, default=seconds, metavar="S", help="seconds (default: %(default)g)")
    limits.add_argument("--memory-limit", type=float, default=8.0, metavar="GIB", help="GiB (default: %(default)g)")
    text = "seconds within one call (default: %(default)g)"
    limits.add_argument("--silence-limit", type=float, default=silence_s, metavar="S", help=text)


def show(args: argparse.Namespace, seen: Sequence[Inspection]) -> int:
    """Print or write the inspections as asked; return the exit status."""
    if args.html:
        from ..report.inspection.html import page

        terminal.note(terminal.save(page(seen), Path(args.html)))
    text = _report(args, seen)
    if args.output:
        terminal.note(terminal.save(text, Path(args.output)))
    else:
        terminal.say(text)
    return status_of(seen, fail_on=args.fail_on, undecided_ok=args.undecided_ok)


def _report(args: argparse.Namespace, seen: Sequence[Inspection]) -> str:
    if args.format == "json":
        from ..report.inspection.json import document
        from ..report.json import dumps

        return dumps(document(seen))
    if args.format == "html":
        from ..report.inspection.html import page

        return page(seen)
    if args.format == "text":
        from ..report.inspection.text import render
        from ..report.page import PLAIN

        return render(seen, full=args.full, face=PLAIN if args.output else terminal.face())
    from importlib import import_module

    return import_module(f"firstbreak.report.inspection.{args.format}").render(seen)


def status_of(seen: Sequence[Inspection], *, fail_on: str = "error", undecided_ok: bool = False) -> int:
    """Return 1 for a finding at `fail_on` or above, else 2 when nothing could look, else 3 when undecided, else 0."""
    from ..diagnosis import Verdict
    from ..finding import Severity

    bar = Severity(fail_on).rank
    if any(f.severity.rank >= bar and not f.ignored for one in seen for f in one.findings):
        return FOUND
    if not seen or all(one.looked == 0 for one in seen):
        return BAD
    if any(one.verdict is Verdict.UNDECIDED for one in seen) and not undecided_ok:
        return UNDECIDED
    return OK
