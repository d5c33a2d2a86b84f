"""`firstbreak release`: what a reviewer needs, in one folder, and go or no-go."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors import InputError
from . import terminal

STATUS = {"go": 0, "no-go": 1, "undecided": 3}
CHANGED = 1
EPILOG = """\
RUN is the folder of a run, one a seed, or a folder of such folders. Beside a log are looked for: checkpoints,
firstbreak-context.json (firstbreak record), protocol.toml, scores.csv, and preflight.json (firstbreak preflight
--format json --output preflight.json); the last and the protocol may lie in the folder above.

scores.csv has a row for each evaluation made after training: split (fresh, private), checkpoint (best, last, baseline),
seed, score, protocol. Fresh: seeds that no choice was made on. Baseline: the model before, on the same set.

Undecided is the verdict when evidence is missing; the report says what to give.

examples:
  firstbreak release runs/* --out release
  firstbreak release runs/* --baseline old_runs/* --samples rollouts.jsonl --out release
  firstbreak release --verify release --seal 3f2a...

exit status: 0 go, 1 no-go, 2 bad input, 3 undecided; with --verify 0 unchanged, 1 changed"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = EPILOG
    parser.add_argument("runs", nargs="*", metavar="RUN", help="runs of one setting, one a seed")
    parser.add_argument("--out", metavar="FOLDER", help="new folder for the release; without it nothing is written")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="face of the report")
    parser.add_argument("--undecided-ok", action="store_true", help="exit 0 instead of 3 when undecided")
    what = parser.add_argument_group("evidence")
    what.add_argument("--baseline", nargs="+", default=[], metavar="RUN", help="runs to compare with")
    what.add_argument("--metric", default="", metavar="METRIC", help="canonical metric that holds the score")
    text = "less of that metric is better, and of the scores in tables: an error, a cost, a time"
    what.add_argument("--lower-is-better", action="store_true", help=text)
    what.add_argument("--scores", action="append", default=[], metavar="FILE", help="a table of scores")
    what.add_argument("--samples", metavar="FILE", help="samples of the released checkpoint, to audit")
    what.add_argument("--preflight", metavar="FILE", help="the JSON of firstbreak preflight")
    what.add_argument("--ledger", metavar="FILE", help="the ledger of looks that firstbreak eval keeps")
    what.add_argument("--scale", action="append", default=[], metavar="TASK=LOW:HIGH",
                      help="scores that count as 0 and 1, to pool tasks")  # fmt: skip
    what.add_argument("--name", default="", metavar="TEXT", help="name of the release")
    check = parser.add_argument_group("checking a release")
    check.add_argument("--verify", metavar="FOLDER", help="say whether a release is still what was made")
    check.add_argument("--seal", default="", metavar="HEX", help="the seal noted when it was made")


def run(args: argparse.Namespace) -> int:
    """Build or verify a release; return the exit status."""
    if args.verify:
        return _verify(args)
    if not args.runs:
        raise InputError("No runs were given.", "For example: firstbreak release runs/* --out release")
    if args.seal:
        raise InputError("--seal is for --verify.", "For example: firstbreak release --verify release --seal 3f2a...")
    return _release(args)


def _release(args: argparse.Namespace) -> int:
    from ..release.building import clear, prepare

    folder = Path(args.out) if args.out else None
    scale = dict(_scale(one) for one in args.scale)
    if folder is None:
        return _made(args, None, scale)
    prepare(folder)
    try:
        return _made(args, folder, scale)
    except BaseException as error:  # Ctrl-C too: half a release would stand in the way of the next
        clear(folder)
        if isinstance(error, KeyboardInterrupt):
            terminal.note(f"Stopped before the release was whole: {folder} is empty again.")
        raise


def _made(args: argparse.Namespace, folder: Path | None, scale: dict[str, tuple[float, float]]) -> int:
    from ..release.building import gather
    from ..report.release import documents, text
    from ..report.release.folder import write

    made = gather(
        args.runs, name=args.name, metric=_metric(args.metric), lower=args.lower_is_better, baseline=args.baseline,
        scores=args.scores, samples=args.samples, preflight=args.preflight, ledger=args.ledger, scale=scale, out=folder,
        tell=terminal.note if sys.stderr.isatty() else None,
    )  # fmt: skip
    seal = write(made, folder, args.preflight) if folder is not None else ""
    if args.format == "json":
        from ..report.json import dumps

        terminal.say(dumps(documents.document(made, str(folder or ""), seal)))
    else:
        terminal.say(text.render(made, terminal.face()))
    if folder is not None:
        terminal.note(f"Wrote {folder / 'index.html'} and manifest.json, seal {seal}")
    status = STATUS[made.outcome.value]
    return 0 if status == STATUS["undecided"] and args.undecided_ok else status


def _verify(args: argparse.Namespace) -> int:
    from ..release.manifest import verify
    from ..report.release.text import render_verified

    found = verify(args.verify, args.seal)
    if args.format == "json":
        from ..report.json import dumps

        terminal.say(dumps({"schema_version": 1, "outcome": "changed" if found.troubles else "unchanged",
                            "seal": found.seal, "files": found.files, "troubles": list(found.troubles)}))  # fmt: skip
    else:
        terminal.say(render_verified(found, terminal.face()))
    return CHANGED if found.troubles else 0


def _metric(name: str) -> str:
    from ..errors import unknown_name
    from ..vocabulary import metrics

    if name and name not in metrics():
        error = unknown_name("metric", name, metrics())
        error.hint = error.hint or "For example reward/eval_return_mean; docs/metrics.md lists all by these names."
        raise error
    return name


def _scale(text: str) -> tuple[str, tuple[float, float]]:
    task, equals, ends = text.rpartition("=")
    low, colon, high = ends.partition(":")
    try:
        return (task, (float(low), float(high))) if equals and colon and task else _no_scale(text)
    except ValueError:
        return _no_scale(text)


def _no_scale(text: str) -> tuple[str, tuple[float, float]]:
    raise InputError(f"--scale {text!r} is not TASK=LOW:HIGH.", "For example: --scale CartPole-v1=20:500")
