"""`firstbreak eval score`: sum up one result."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import terminal
from .eval_output import add_format, show
from .exit_status import OK
from .pairs import columns_named

EPILOG = """\
One line a score: an item (or episode), a score, and the run (training seed) where there are several; or one file a run.
Intervals over items hold for these very checkpoints; intervals over runs hold for the method, and are refused for a
single run."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = EPILOG
    parser.add_argument("scores", nargs="+", metavar="FILE", help="scores of one result, one file or one a run")
    parser.add_argument("--protocol", metavar="FILE", help="what they were measured under")
    parser.add_argument("--k", type=int, action="append", metavar="K", help="pass@K (default: the protocol's)")
    parser.add_argument("--column", action="append", metavar="ROLE=NAME", help="score, item or run in an odd column")
    parser.add_argument("--save", metavar="FILE.json", help="write the scores with their protocol, for `eval compare`")
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Sum up; return the exit status."""
    from ..evaluation.protocol.protocol import read
    from ..evaluation.results.reading import document, read_scores
    from ..evaluation.results.summary import summary
    from ..report.evaluation import scores as face
    from ..report.json import dumps

    protocol = read(Path(args.protocol)) if args.protocol else None
    columns = columns_named(args.column, "score=reward")
    scores = read_scores([Path(p) for p in args.scores], columns=columns, protocol=protocol)
    found = summary(scores, args.k or (scores.protocol.pass_at if scores.protocol else ()))
    if args.save:
        terminal.note(terminal.save(dumps(document(scores)), Path(args.save)))
    show(args, lambda page: face.draw(page, found), face.data(found))
    return OK
