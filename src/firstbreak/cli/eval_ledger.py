"""`firstbreak eval ledger show|verify|head|budget`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from . import terminal
from .arguments import Parser
from .eval_output import add_format, show
from .eval_record import LEDGER
from .exit_status import FOUND, OK

if TYPE_CHECKING:
    from ..evaluation.ledger.store import Ledger

EPILOG = """\
verify finds entries that were changed, deleted, reordered or cut off; show looks for that first. Whoever can write the
ledger can also write it anew from the start; keep the line that `head` prints where they cannot (a commit, a paper),
and give it to --expect.

exit status: 0 done; 1 show or verify found that the ledger was changed by hand; 2 bad input"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = EPILOG
    kinds: Any = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=Parser)
    for name, line in (
        ("show", "every look, and where each split stands"),
        ("verify", "prove that nothing was changed; exit 1 if something was"),
        ("head", "print where the ledger ends, to be kept elsewhere"),
        ("budget", "set how many looks a split may have; that is recorded too"),
    ):
        one = kinds.add_parser(name, help=line)
        one.add_argument("ledger", nargs="?", metavar="FILE", help=f"default: {LEDGER}")
        one.add_argument("--ledger", dest="named", metavar="FILE", help="the same, by name")
        if name == "verify":
            one.add_argument("--expect", metavar="HEAD", help="a head noted earlier, or a file that holds it")
        if name == "budget":
            one.add_argument("--split", required=True)
            one.add_argument("--looks", required=True, type=int, metavar="N")
            one.add_argument("--note", default="")
        if name in ("show", "verify"):
            add_format(one)


def run(args: argparse.Namespace) -> int:
    """Do what was asked; return the exit status."""
    if args.action is None:
        raise InputError("Nothing to do.", "Say what: show, verify, head or budget.")
    if args.ledger and args.named and args.ledger != args.named:
        raise InputError(f"Two ledgers were given: {args.ledger} and {args.named}.", "Give one of them.")
    args.ledger = args.ledger or args.named or LEDGER
    return {"show": _show, "verify": _verify, "head": _head, "budget": _budget}[args.action](args)


def _ledger(name: str) -> Ledger:
    """Return a ledger that is only read: an empty file is not made into one."""
    from ..evaluation.ledger.store import Ledger

    path = Path(name)
    if path.is_file() and path.stat().st_size == 0:
        raise InputError(f"{path}: an empty file, no ledger.", "The first `firstbreak eval record` makes one.")
    return Ledger(path)


def _show(args: argparse.Namespace) -> int:
    from ..evaluation.ledger.looks import looks_of, standings
    from ..report.evaluation import ledger as face

    ledger = _ledger(args.ledger)
    if ledger.faults():
        return _verify(args)  # what it says is not worth showing, and may not be readable
    entries = ledger.entries()
    looks, where = looks_of(entries), standings(entries)
    show(args, lambda page: face.draw(page, looks, where), face.data(looks, where))
    return OK


def _verify(args: argparse.Namespace) -> int:
    from ..evaluation.ledger.store import Head
    from ..report.evaluation import ledger as face

    ledger = _ledger(args.ledger)
    expected, given = None, getattr(args, "expect", None)
    if given:
        there = Path(given)
        expected = Head.parse(there.read_text("utf-8", errors="replace") if there.is_file() else given)
    faults, head = ledger.faults(expected), ledger.head()
    show(
        args,
        lambda page: face.draw_faults(page, faults, head),
        {"verdict": "broken" if faults else "healthy", "faults": faults, "head": str(head)},
    )
    return FOUND if faults else OK


def _head(args: argparse.Namespace) -> int:
    terminal.say(str(_ledger(args.ledger).head()))
    return OK


def _budget(args: argparse.Namespace) -> int:
    from ..evaluation.ledger.looks import set_budget

    set_budget(Path(args.ledger), args.split, args.looks, args.note)
    terminal.note(f"{args.split} may have {args.looks} looks from now on")
    return OK
