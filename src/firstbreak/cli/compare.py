"""`firstbreak compare`: where two runs part."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import InputError
from . import terminal

EPILOG = """\
With a twin: where the metrics of two runs part, and what differs between the two. With healthy runs: which metrics
leave what those show, and what the run has that none of them has, the likeliest explanation first; put one half of that
list back and run again, then one half of the half.

examples:
  firstbreak compare runs/broken runs/healthy
  firstbreak compare runs/broken --baseline healthy_runs/

exit status: 0 the runs stay together, 1 they part, 2 bad input, 3 nothing can be compared"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = EPILOG
    parser.add_argument("a", metavar="A", help="a run")
    parser.add_argument("b", nargs="?", metavar="B", help="its twin")
    text = "three or more healthy runs of the task (or their folder), in place of a twin"
    parser.add_argument("--baseline", nargs="+", default=[], metavar="RUN", help=text)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="face of the report")


def run(args: argparse.Namespace) -> int:
    """Compare and print; return the exit status."""
    if args.baseline:
        return _against_healthy(args)
    if args.b is None:
        raise InputError("With what is it compared?", "Give its twin, or healthy runs: --baseline healthy_runs/")
    from ..api import compare
    from ..report.comparison import document, outcome, render

    comparison = compare(args.a, args.b)
    if args.format == "json":
        from ..report.json import dumps

        terminal.say(dumps(document(comparison)))
    else:
        terminal.say(render(comparison, terminal.face()))
    return {"together": 0, "diverged": 1}.get(outcome(comparison), 3)


def _against_healthy(args: argparse.Namespace) -> int:
    """Hold the run against healthy ones and print; return the exit status."""
    from ..context.suspects import suspects
    from ..loading import load, load_runs
    from ..report.suspects import document, render

    if args.b is not None:
        raise InputError("A twin and --baseline are two questions.", "Ask one of them.")
    run = load(args.a)
    place = Path(run.path).resolve()  # a run is no reference for itself
    healthy = [log for path in args.baseline for log in load_runs(path) if Path(log.path).resolve() != place]
    found = suspects(run, healthy)
    if args.format == "json":
        from ..report.json import dumps

        terminal.say(dumps(document(found)))
    else:
        terminal.say(render(found, terminal.face()))
    return {"within": 0, "departs": 1}.get(found.outcome, 3)
