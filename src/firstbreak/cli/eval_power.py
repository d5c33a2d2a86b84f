"""`firstbreak eval power`: how many episodes, items or runs a difference needs."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import InputError
from .eval_output import add_format, show
from .exit_status import OK, UNDECIDED
from .pairs import columns_named

EPILOG = """\
The power of the two-sided t test at 95 %. The spread is that between the units you count: between episodes of one
checkpoint, or between training runs.

exit status: 0 as many as given can show it; 3 they cannot"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = EPILOG
    parser.add_argument("scores", nargs="*", metavar="FILE", help="scores of a pilot, whose spread is taken")
    parser.add_argument("--sd", type=float, metavar="X", help="the spread, where there is no pilot")
    parser.add_argument("--difference", type=float, required=True, metavar="X", help="the difference that would matter")
    parser.add_argument("--units", type=int, metavar="N", help="how many there are a side (default: the pilot's)")
    parser.add_argument(
        "--paired", action="store_true", help="the same items or seeds on both sides; --sd of differences"
    )
    parser.add_argument(
        "--wanted", type=float, default=0.8, metavar="P", help="probability of seeing it (default: 0.8)"
    )
    parser.add_argument("--column", action="append", metavar="ROLE=NAME", help="score, item or run in an odd column")
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Compute; return the exit status."""
    import numpy as np

    from ..evaluation.results.reading import read_scores
    from ..evaluation.results.summary import item_means, run_means
    from ..evaluation.statistics import detectable, power, runs_needed
    from ..report.evaluation import scores as face

    sd, units, what = args.sd, args.units, "units"
    if not 0.0 < args.wanted < 1.0:
        raise InputError(f"A probability of {args.wanted:g}.", "Give one between 0 and 1, for example 0.8.")
    if args.scores:
        scores = read_scores([Path(p) for p in args.scores], columns=columns_named(args.column, "score=reward"))
        runs = run_means(scores)
        values, what = (runs, "runs") if runs.size > 1 else (item_means(scores), "items or episodes")
        if values.size < 2 and sd is None:
            raise InputError("A single score has no spread.", "Give more of them, or --sd.")
        sd = float(np.std(values, ddof=1)) if sd is None else sd
        units = int(values.size) if units is None else units
    if sd is None:
        raise InputError("Nothing says how much scores spread.", "Give a file of scores, or --sd.")
    needed = runs_needed(args.difference, sd, wanted=args.wanted, paired=args.paired)
    seen = None if units is None else power(args.difference, sd, units, paired=args.paired)
    least = None if units is None else detectable(sd, units, wanted=args.wanted, paired=args.paired)
    answer = face.Power(args.difference, sd, what, units, needed, seen, least, args.wanted, args.paired)
    show(args, lambda page: face.draw_power(page, answer), face.power_data(answer))
    return UNDECIDED if seen is not None and seen < args.wanted else OK
