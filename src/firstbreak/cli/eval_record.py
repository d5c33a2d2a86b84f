"""`firstbreak eval record`: add a result to the ledger."""

from __future__ import annotations

import argparse
from pathlib import Path

from .eval_output import add_format, show
from .exit_status import FOUND, OK
from .pairs import columns_named

LEDGER = "firstbreak-looks.db"

EPILOG = """\
Every evaluation is a look, also one whose result is thrown away. On public_test and private_test the Ladder answers:
the best score so far unless the new one is better by more than noise. A look beyond the budget is recorded too.

exit status: 0 recorded; 1 recorded beyond the budget; 2 bad input, or a ledger that was changed by hand"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = EPILOG
    parser.add_argument("scores", nargs="+", metavar="FILE", help="scores per item or episode")
    parser.add_argument("--split", required=True, help="smoke, dev, public_test, private_test or human_audit")
    parser.add_argument(
        "--protocol", metavar="FILE", help="what they were measured under (a saved score brings its own)"
    )
    parser.add_argument("--subject", metavar="NAME", help="checkpoint or run (default: the file's name)")
    parser.add_argument("--ledger", default=LEDGER, metavar="FILE", help="default: %(default)s")
    parser.add_argument("--note", default="", help="why it was looked at")
    parser.add_argument("--column", action="append", metavar="ROLE=NAME", help="score, item or run in an odd column")
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    """Record, show the standing; return the exit status."""
    from ..errors import InputError
    from ..evaluation.ledger.looks import record
    from ..evaluation.protocol.protocol import read
    from ..evaluation.results.reading import read_scores
    from ..evaluation.results.summary import summary
    from ..report.evaluation import ledger as face

    protocol = read(Path(args.protocol)) if args.protocol else None
    columns = columns_named(args.column, "score=reward")
    scores = read_scores([Path(p) for p in args.scores], columns=columns, protocol=protocol)
    if scores.protocol is None:
        raise InputError("A score without a protocol means nothing later.", "Give it: --protocol protocol.toml")
    found = summary(scores)
    look, standing = record(
        Path(args.ledger),
        args.split,
        args.subject or scores.name,
        scores.protocol,
        score=found.mean,
        noise=None if found.items < 2 else found.noise,
        items=found.items,
        note=args.note,
    )
    show(args, lambda page: face.draw_look(page, look, standing), face.look_data(look, standing))
    over = standing.budget_looks is not None and standing.looks > standing.budget_looks
    return FOUND if over else OK
