"""Showing the checklist of `firstbreak preflight`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from . import terminal
from .inspecting import status_of

if TYPE_CHECKING:
    from ..preflight.checklist.run import Checklist


def show(args: argparse.Namespace, checklist: Checklist) -> int:
    """Print or write the checklist as asked; return the exit status."""
    from ..report.inspection import checklist as faces

    if args.html:
        terminal.note(terminal.save(faces.page(checklist), Path(args.html)))
    text = faces.render(checklist, args.format, full=args.full, face=None if args.output else terminal.face())
    if args.output:
        terminal.note(terminal.save(text, Path(args.output)))
    else:
        terminal.say(text)
    return status_of(checklist.inspections, fail_on=args.fail_on, undecided_ok=args.undecided_ok)
