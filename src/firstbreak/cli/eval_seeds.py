"""`firstbreak eval seeds`: which seeds training and evaluation share."""

from __future__ import annotations

import argparse

from .eval_output import add_format, show
from .exit_status import FOUND, OK

EPILOG = """\
Seeds are written 7, 0-99 or 0-7,100, or read from a file with a column of seeds.

examples:
  firstbreak eval seeds --train 0-7 --eval 5,100-110 --train-envs 8

exit status: 0 none shared; 1 some shared; 2 bad input"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = EPILOG
    parser.add_argument("--train", required=True, metavar="SEEDS", help="seeds of training, or a file")
    parser.add_argument("--eval", required=True, metavar="SEEDS", dest="evaluation", help="seeds of evaluation")
    text = "environments side by side, reset with seed, seed + 1 and so on (default: 1)"
    parser.add_argument("--train-envs", type=int, default=1, metavar="N", help=text)
    parser.add_argument("--eval-envs", type=int, default=1, metavar="N", help="the same of evaluation")
    parser.add_argument("--column", default="", metavar="NAME", help="the column of a file, where it has an odd name")
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Compare; return the exit status."""
    from ..evaluation.seeds import seeds_of, shared_seeds
    from ..report.evaluation import environment as face

    found = shared_seeds(
        seeds_of(args.train, environments=args.train_envs, column=args.column),
        seeds_of(args.evaluation, environments=args.eval_envs, column=args.column),
    )
    show(args, lambda page: face.draw_seeds(page, found), face.seeds_data(found))
    return FOUND if found.shared else OK
