"""`firstbreak replay`: run a recorded training again, or say what differs now."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from . import terminal
from .exit_status import BAD, FOUND, OK, UNDECIDED

if TYPE_CHECKING:
    from ..context.contents import Context
    from ..context.replaying import Check

EPILOG = """\
RECORD is a firstbreak-context.json or the folder of a run. Code, packages, hardware, data and reward functions are
compared with the record first. Where something that may change the result differs, nothing runs unless --anyway is
given. --worktree restores the code of then beside yours: the recorded commit with its uncommitted changes.

The command writes where it wrote then: give it another folder with --add. One that names the old run's folder is not
run as it is, unless --anyway is given.

examples:
  firstbreak replay runs/ppo-3 --check
  firstbreak replay runs/ppo-3 --run runs/again --add '--output-dir runs/again'
  firstbreak replay runs/ppo-3 --worktree /tmp/then --run runs/then

exit status: with --check 0 the same, 1 something differs, 2 it cannot run, 3 cannot tell whether the code is the
same (no git then, or none now); else that of the command"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = EPILOG
    parser.add_argument("record", metavar="RECORD", help="a record, or the folder of a run that holds one")
    parser.add_argument("--check", action="store_true", help="only say what differs now")
    parser.add_argument(
        "--anyway", action="store_true", help="run although something differs, or the old run is written over"
    )
    parser.add_argument("--folder", metavar="FOLDER", help="run there, not where it ran")
    parser.add_argument("--worktree", metavar="FOLDER", help="restore the code of then into this new folder, run there")
    parser.add_argument("--run", metavar="RUN", dest="run_folder", help="folder for the new record")
    parser.add_argument("--add", default="", metavar="WORDS", help="words to add to the command, in one quoted text")


def run(args: argparse.Namespace) -> int:
    """Compare, say what differs, and run; return the exit status."""
    from ..context import replaying, store
    from ..report.release.context import render_check

    record = store.read(args.record)
    extra = shlex.split(args.add)
    folder = Path(args.folder) if args.folder else Path(record.folder)
    if args.worktree and not args.check:
        folder = replaying.restore_code(record, Path(args.worktree))
    seen = replaying.check(record, folder=folder)
    command, line = replaying.plan(record, extra, folder)
    terminal.say(render_check(record, seen, line, terminal.face()))
    if args.check:
        return BAD if seen.obstacles else FOUND if seen.serious else UNDECIDED if seen.unknown else OK
    _may_run(args, seen)
    _spare_the_old_run(args, command, folder)
    return _run(args, record, command, folder)


def _may_run(args: argparse.Namespace, seen: Check) -> None:
    from ..report.words import count

    if seen.obstacles:
        raise InputError(f"It cannot be run again: {seen.obstacles[0]}.", "See the list above.")
    if seen.serious and not args.anyway:
        raise InputError(
            f"{count(len(seen.serious), 'difference')} may change the result.", "Restore them, or run with --anyway."
        )


def _spare_the_old_run(args: argparse.Namespace, command: tuple[str, ...], folder: Path) -> None:
    """Insist that the command does not write over the run that is replayed; words that were added may lead elsewhere.

    Raises:
        InputError: the run's own folder is named in the command as it was.
    """
    given = Path(args.record)
    old = (given if given.is_dir() else given.parent).resolve()
    words = [part for word in command for part in (word, word.partition("=")[2]) if part]
    if (
        args.add
        or args.anyway
        or old == folder.resolve()
        or not any((folder / word).resolve() == old for word in words)
    ):
        return
    raise InputError(
        f"The command writes to {args.record} again: the logs of the old run would be lost.",
        "Lead it elsewhere with --add (for example --add '--output-dir runs/again'), or run with --anyway.",
    )


def _run(args: argparse.Namespace, record: Context, command: tuple[str, ...], folder: Path) -> int:
    from ..context.gathering import gather
    from ..context.running import run as run_command

    if not args.run_folder:
        raise InputError("Where does the new record go?", "Give --run FOLDER; the old record stays as it is.")
    context = gather(command, folder, data=[m.path for m in record.data], rewards=[m.path for m in record.rewards])
    ran = run_command(command, context, Path(args.run_folder).absolute(), variables=record.environment)
    if ran.trouble:
        terminal.note(f"firstbreak: {ran.trouble}")
    return ran.status
