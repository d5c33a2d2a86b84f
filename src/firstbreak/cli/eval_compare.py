"""`firstbreak eval compare`: two results of one protocol; `--gap` for one checkpoint acting in two ways."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import InputError
from .eval_output import add_format, show
from .exit_status import OK, UNDECIDED
from .pairs import columns_named

EPILOG = """\
Scores of different protocols are refused, and the fields named. Items that both have are compared in pairs. What holds
for two checkpoints need not hold for two methods: that takes several training runs of each, given as a column `run` or
as files joined by commas (a1.jsonl,a2.jsonl b1.jsonl,b2.jsonl).

exit status: 0 a difference was shown; 2 bad input, or different protocols; 3 undecided"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = EPILOG
    parser.add_argument("one", metavar="ONE", help="scores compared with; files of several runs joined by commas")
    parser.add_argument("other", metavar="OTHER", help="the new scores")
    parser.add_argument("--protocol", metavar="FILE", help="what both were measured under")
    parser.add_argument("--protocols", nargs=2, metavar=("ONE", "OTHER"), help="what each was measured under")
    parser.add_argument("--assume-same-protocol", action="store_true", help="vouch for it")
    text = "ONE was sampled, OTHER deterministic, of the same checkpoint: only how actions are taken may differ"
    parser.add_argument("--gap", action="store_true", help=text)
    text = "of errors, costs and times; a protocol says it with evaluation.better"
    parser.add_argument("--lower-is-better", action="store_true", help=text)
    parser.add_argument("--column", action="append", metavar="ROLE=NAME", help="score, item or run in an odd column")
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Compare; return the exit status."""
    from ..evaluation.protocol.protocol import read
    from ..evaluation.results.reading import read_scores

    if args.protocol and args.protocols:
        raise InputError("Both --protocol and --protocols.", "Give one of them.")
    files = args.protocols or ([args.protocol] * 2 if args.protocol else [None, None])
    columns = columns_named(args.column, "score=reward")
    one, other = (
        read_scores([Path(p) for p in text.split(",")], columns=columns, protocol=read(Path(file)) if file else None)
        for text, file in zip((args.one, args.other), files, strict=True)
    )
    from ..report.evaluation import scores as face

    if args.gap:
        from ..evaluation.gap import gap
        from ..evaluation.results.comparing import lower_of

        lower = lower_of(one, other, args.lower_is_better)
        between = gap(one, other, lower=lower)
        show(args, lambda page: face.draw_gap(page, between), face.gap_data(between))
        return UNDECIDED if between.outcome == "undecided" else OK
    from ..evaluation.results.comparing import compare

    found = compare(one, other, assume_same_protocol=args.assume_same_protocol, lower=args.lower_is_better)
    show(args, lambda page: face.draw_comparison(page, found), face.comparison_data(found))
    return UNDECIDED if found.outcome == "undecided" else OK
