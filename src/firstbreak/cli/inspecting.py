"""What the commands that inspect something before a run share: output options, faces, exit status."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import terminal
from .arguments import positive
from .exit_status import BAD, FOUND, OK, UNDECIDED

if TYPE_CHECKING:
    from ..inspection import Inspection
    from ..report.page import Face

FORMATS = ("text", "json", "markdown", "junit", "github", "html")
STATUS = "exit status: 0 nothing at --fail-on or above; 1 findings at --fail-on; 2 bad input; 3 undecided"


def add_output(parser: argparse.ArgumentParser, *, again: bool = False) -> None:
    """Add the options that say how the answer is shown and what it does to the exit status.

    `again`: the command above has them too; what was said there holds unless it is said here.
    """
    first: dict[str, Any] = {"default": argparse.SUPPRESS} if again else {}
    out = parser.add_argument_group("output")
    text: dict[str, Any] = {"default": "text", **first}
    faces = f"face of the report: {', '.join(FORMATS)} (default: text)"
    out.add_argument("--format", choices=FORMATS, metavar="FACE", help=faces, **text)
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
    limits.add_argument(
        "--time-limit", type=positive, default=seconds, metavar="S", help="seconds (default: %(default)g)"
    )
    limits.add_argument("--memory-limit", type=positive, default=8.0, metavar="GIB", help="GiB (default: %(default)g)")
    text = "seconds within one call (default: %(default)g)"
    limits.add_argument("--silence-limit", type=positive, default=silence_s, metavar="S", help=text)


@dataclass(frozen=True)
class Below:
    """What is shown below an inspection, such as samples: in the terminal, on the page, as plain data."""

    text: Callable[[Face], str]
    section: Callable[[], str]
    data: Callable[[], list[dict[str, Any]]]


def show(args: argparse.Namespace, seen: Sequence[Inspection], below: Below | None = None) -> int:
    """Print or write the inspections as asked; return the exit status.

    `below` comes under the last of them; only `text`, `html` and `json` have room for it.
    """
    if args.html:
        terminal.note(terminal.save(_page(seen, below), Path(args.html)))
    text = _report(args, seen, below)
    if args.output:
        terminal.note(terminal.save(text, Path(args.output)))
    else:
        terminal.say(text)
    return status_of(seen, fail_on=args.fail_on, undecided_ok=args.undecided_ok)


def _page(seen: Sequence[Inspection], below: Below | None) -> str:
    from ..report.inspection.html import page

    return page(seen, below=below.section() if below else "")


def _report(args: argparse.Namespace, seen: Sequence[Inspection], below: Below | None) -> str:
    if args.format == "json":
        from ..report.inspection.json import document
        from ..report.json import dumps

        return dumps(document(_with_data(seen, below)))
    if args.format == "html":
        return _page(seen, below)
    if args.format == "text":
        from ..report.inspection.text import render
        from ..report.page import PLAIN

        face = PLAIN if args.output else terminal.face()
        return render(seen, full=args.full, face=face) + (below.text(face) if below else "")
    from importlib import import_module

    return import_module(f"firstbreak.report.inspection.{args.format}").render(seen)


def _with_data(seen: Sequence[Inspection], below: Below | None) -> list[Inspection]:
    """Return the inspections with what is shown below them among the details of the last."""
    if below is None:
        return list(seen)
    *others, last = seen
    return [*others, replace(last, details={**last.details, "shown": below.data()})]


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
