"""`firstbreak eval normaliser`: whether evaluation normalises observations as training did."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import InputError
from .eval_output import add_format, show
from .exit_status import FOUND, OK, UNDECIDED

EPILOG = """\
Statistics are JSON or .npz with mean, and var or std; pickles are never opened. From a log of rows the last
train/obs_mean, train/obs_std, eval/obs_mean and eval/obs_std are taken.

exit status: 0 the same; 1 different, or never loaded; 2 bad input; 3 a little different"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = EPILOG
    parser.add_argument("--train", metavar="FILE", help="statistics of training")
    parser.add_argument("--eval", metavar="FILE", dest="evaluation", help="statistics of evaluation")
    parser.add_argument("--log", metavar="FILE", help="a log that holds both, instead")
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Compare; return the exit status."""
    from ..evaluation.normaliser import compare_normalisers, from_log, read_statistics
    from ..report.evaluation import environment as face

    if bool(args.log) == bool(args.train or args.evaluation) or bool(args.train) != bool(args.evaluation):
        raise InputError("Nothing to compare.", "Give --train and --eval, or --log.")
    both = (
        from_log(Path(args.log))
        if args.log
        else (read_statistics(Path(args.train)), read_statistics(Path(args.evaluation)))
    )
    found = compare_normalisers(*both)
    show(args, lambda page: face.draw_normalisers(page, found), face.normalisers_data(found))
    return {"same": OK, "drifted": UNDECIDED}.get(found.outcome, FOUND)
