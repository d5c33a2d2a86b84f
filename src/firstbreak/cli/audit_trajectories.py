"""`firstbreak audit` of recorded control episodes: npz files and Minari data sets."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from . import terminal
from .inspecting import show, status_of

if TYPE_CHECKING:
    from ..inspection import Inspection
    from ..report.audit.trajectories import Shown

SAMPLES_ONLY = ("reference", "labels", "column", "framework", "mask")
"""Options that speak of texts and columns."""


def holds_trajectories(path: Path) -> bool:
    """Whether `path` is to be read as episodes: such a file, or a folder with such files and no file of samples."""
    from ..audit.trajectories.reading import has_trajectories

    if not has_trajectories(path):
        return False
    if not path.is_dir():
        return True
    from ..audit.reading.files import data_files
    from ..audit.reading.report import ReadReport

    return next(data_files(path, ReadReport()), None) is None


def run(args: argparse.Namespace, path: Path) -> int:
    """Audit the episodes of `path` and print; return the exit status."""
    from ..audit.trajectories.api import inspect_record, read_record

    given = [name for name in SAMPLES_ONLY if getattr(args, name, None)]
    if given:
        raise InputError(f"--{given[0]} is for samples, and {path} holds trajectories.", "Leave it out.")
    record = read_record(path, kept=max(args.show, 1))
    seen = inspect_record(record)
    if not args.show:
        return show(args, [seen])
    from ..report.audit.trajectories import shown

    return _with_episodes(args, seen, shown(record.summary, args.show))


def _with_episodes(args: argparse.Namespace, seen: Inspection, rows: list[list[Shown]]) -> int:
    from ..report.audit.trajectories import page

    if args.html:
        terminal.note(terminal.save(page([seen], rows), Path(args.html)))
    text = page([seen], rows) if args.format == "html" else _face(args, seen, rows)
    if args.output:
        terminal.note(terminal.save(text, Path(args.output)))
    else:
        terminal.say(text)
    return status_of([seen], fail_on=args.fail_on, undecided_ok=args.undecided_ok)


def _face(args: argparse.Namespace, seen: Inspection, rows: list[list[Shown]]) -> str:
    from ..report.audit import trajectories

    if args.format == "json":
        from ..report.inspection.json import document
        from ..report.json import dumps

        return dumps(document([replace(seen, details={**seen.details, "shown": trajectories.data(rows)})]))
    from ..report.inspection.text import render
    from ..report.page import PLAIN

    face = PLAIN if args.output else terminal.face()
    return render([seen], full=args.full, face=face) + trajectories.render(rows, face)
