"""`firstbreak eval contamination`: which evaluation prompts the training data holds."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from ..errors import InputError
from .eval_output import add_format, show
from .exit_status import FOUND, OK, UNDECIDED
from .pairs import columns_named
from .progress import SharedProgress

EPILOG = """\
Data are JSON lines, CSV or Parquet; prompts are found under the usual names, also in conversations, and schemas may
mix. Words that so many prompts share that they belong to a template do not count. Rows are counted from 1. Nothing but
row numbers is printed unless --show asks for examples, which are cleaned.

exit status: 0 no evaluation prompt found; 1 some found; 2 bad input; 3 none found, but too many rows hold no prompt"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = EPILOG
    parser.add_argument("--train", nargs="+", required=True, metavar="FILE", help="training data")
    parser.add_argument("--eval", nargs="+", required=True, metavar="FILE", dest="evaluation", help="evaluation data")
    text = "overlap of runs of three words from which prompts are near duplicates (default: %(default)g)"
    parser.add_argument("--threshold", type=float, default=0.7, metavar="X", help=text)
    text = "words of a run that counts as shared text (default: %(default)d)"
    parser.add_argument("--gram", type=int, default=13, metavar="N", help=text)
    text = "a column with an odd name: prompt, context, answer, completion or messages"
    parser.add_argument("--column", action="append", metavar="ROLE=NAME", help=text)
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N examples of each kind")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="default: %(default)d")
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Compare, show what was found; return the exit status."""
    from ..evaluation.contamination.api import contamination
    from ..evaluation.contamination.index import Plan
    from ..report.evaluation import contamination as face

    if not 1 <= args.processes <= 64:
        raise InputError(f"--processes {args.processes} is not between 1 and 64.", "For example: --processes 2")
    if args.gram < 4:
        raise InputError(f"--gram {args.gram}: shorter runs of words occur by chance.", "For example: --gram 13")
    start = time.monotonic()
    with SharedProgress(args.processes) as progress:
        found = contamination(
            [Path(p) for p in args.train],
            [Path(p) for p in args.evaluation],
            plan=Plan(threshold=args.threshold, gram=args.gram),
            columns=columns_named(args.column, "prompt=task"),
            processes=args.processes,
            progress=progress,
        )
    seconds = time.monotonic() - start
    show(args, lambda page: face.draw(page, found, seconds, examples=args.show), face.data(found, examples=args.show))
    return {"found": FOUND, "none": OK, "undecided": UNDECIDED}[found.outcome]
