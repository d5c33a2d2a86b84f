"""`firstbreak audit`: look at what the model does, and at what it is paid for."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from . import terminal
from .arguments import Parser
from .inspecting import STATUS, add_output, show, status_of

if TYPE_CHECKING:
    from ..audit.views import Shown
    from ..inspection import Inspection

WHAT: dict[str, tuple[str, str]] = {
    "verifier": ("firstbreak.cli.audit_verifier", "a verifier: can it be fooled, does it accept what is right?"),
    "reward-model": ("firstbreak.cli.audit_reward_model", "a reward model: pairs, length, calibration, drift"),
    "label": ("firstbreak.cli.audit_label", "label samples that tell most; the labels come back as human scores"),
}
"""What can be audited beside samples: the module that does it, one line of help."""
SAMPLES = "samples"
SHOWING = ("text", "html", "json")
"""Faces that have room for samples."""
PATIENCE_S = 1.0

EPILOG = f"""\
SAMPLES is JSON lines, CSV, Parquet, or a rollout dump of a framework; a file or a folder. It needs the texts of
prompts and responses; rewards, human scores, task success, steps and tokens let more checks look. Findings name
counts and rows, never texts; --show prints samples, cleaned. Episodes of control (.npz, Minari's main_data.hdf5, or a
folder of them) are samples too.

Instead of SAMPLES one of these words says what else to audit (a file of that name is ./verifier):
  verifier, reward-model, label

examples:
  firstbreak audit rollouts/ --show 3
  firstbreak audit samples.jsonl --column reward=judge_v2 --reference before_training.jsonl
  firstbreak audit episodes.npz --show 2 --html page.html
  firstbreak audit verifier my_rewards:score

{STATUS}"""


class _Kinds(argparse._SubParsersAction):  # pyright: ignore[reportMissingTypeArgument]
    """Sub-commands; a word that is none of them is a path to samples."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        given = values if values[0] in self._name_parser_map else [SAMPLES, *values]  # pyright: ignore[reportUnknownMemberType]
        super().__call__(parser, namespace, given, option_string)


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = EPILOG
    _arguments(parser)
    add_output(parser)
    kinds: Any = parser.add_subparsers(dest="what", metavar="SAMPLES", parser_class=Parser, action=_Kinds)
    kinds.choices = None  # any word is taken: it may be a path
    path = kinds.add_parser(SAMPLES, prog=parser.prog, epilog=EPILOG, description="Audit samples.")
    path.add_argument("samples", metavar="SAMPLES", help="a file or folder of samples")
    _arguments(path, again=True)
    add_output(path, again=True)
    for name, (module, line) in WHAT.items():
        if find_spec(module) is not None:
            importlib.import_module(module).add(kinds.add_parser(name, help=line, description=f"Audit {line}"))


def _arguments(parser: argparse.ArgumentParser, *, again: bool = False) -> None:
    first: dict[str, Any] = {"default": argparse.SUPPRESS} if again else {}
    count: dict[str, Any] = {"default": 0, **first}
    pairs: dict[str, Any] = {"default": None, **first}
    parser.add_argument(
        "--reference", metavar="FILE", help="samples to compare with, of an earlier checkpoint", **first
    )
    parser.add_argument(
        "--labels", metavar="FILE", help="what `firstbreak audit label` wrote, read as human scores", **first
    )
    parser.add_argument("--show", type=int, metavar="N", help="print N samples of high, low and random reward", **count)
    parser.add_argument("--mask", action="store_true", help="take personal data out of the samples printed", **first)
    parser.add_argument(
        "--column", "--columns", action="append", metavar="ROLE=NAME", help="a column with an odd name", **pairs
    )
    parser.add_argument(
        "--oracle",
        metavar="MODULE:FN",
        help="says of a state of an episode whether the task can still be done",
        **first,
    )
    parser.add_argument("--framework", metavar="NAME", help="whose dump it is, where that cannot be told", **first)


def run(args: argparse.Namespace) -> int:
    """Audit what was asked for; return the exit status."""
    if args.what in WHAT:
        return int(importlib.import_module(WHAT[args.what][0]).run(args))
    if args.what is None:
        raise InputError("Nothing to audit.", "Give a file of samples: firstbreak audit samples.jsonl")
    if args.show < 0:
        raise InputError(f"--show {args.show}: not a number of samples.", "For example: --show 3")
    if args.show and args.format not in SHOWING:
        raise InputError(
            f"--show prints samples in {', '.join(SHOWING)}, not in {args.format}.", "Leave out one of them."
        )
    return _samples(args)


def _samples(args: argparse.Namespace) -> int:
    from . import audit_trajectories

    path = _there(args.samples)
    if audit_trajectories.holds_trajectories(path):
        return audit_trajectories.run(args, path)
    from dataclasses import replace

    from ..audit.api import audit_table, read_table, with_oracle
    from ..audit.views import shown

    columns = dict(_pair(text) for text in args.column or ())
    with Counting() as counting:
        table, report = read_table(path, columns=columns, framework=args.framework, labels=args.labels, count=counting)
        if args.reference:
            before, _ = read_table(args.reference, columns=columns, framework=args.framework, count=counting)
            table = replace(table, reference=before)
    seen = audit_table(table, report)
    if args.oracle:
        seen = with_oracle(seen, table, args.oracle)
    if not args.show:
        return show(args, [seen])
    return _with_samples(args, seen, shown(table, args.show, mask=args.mask))


def _there(path: str) -> Path:
    found = Path(path)
    if not found.exists():
        import difflib

        close = difflib.get_close_matches(path, list(WHAT), n=1, cutoff=0.7)
        if close:
            raise InputError(f"{path}: no such file.", f"Did you mean: firstbreak audit {close[0]}")
    return found


def _pair(text: str) -> tuple[str, str]:
    role, equals, name = text.partition("=")
    if not (equals and role and name):
        raise InputError(f"--column {text!r} is not ROLE=NAME.", "For example: --column reward=judge_v2")
    return role, name


def _with_samples(args: argparse.Namespace, seen: Inspection, rows: Sequence[Sequence[Shown]]) -> int:
    """Print or write the inspection with samples below it; return the exit status."""
    from ..report.audit.html import page

    if args.html:
        terminal.note(terminal.save(page([seen], rows), Path(args.html)))
    text = page([seen], rows) if args.format == "html" else _face(args, seen, rows)
    if args.output:
        terminal.note(terminal.save(text, Path(args.output)))
    else:
        terminal.say(text)
    return status_of([seen], fail_on=args.fail_on, undecided_ok=args.undecided_ok)


def _face(args: argparse.Namespace, seen: Inspection, rows: Sequence[Sequence[Shown]]) -> str:
    from ..report.audit import text, words
    from ..report.page import PLAIN

    if args.format == "json":
        from dataclasses import replace

        from ..report.inspection.json import document
        from ..report.json import dumps

        return dumps(document([replace(seen, details={**seen.details, "shown": words.data(rows)})]))
    from ..report.inspection.text import render

    face = PLAIN if args.output else terminal.face()
    return render([seen], full=args.full, face=face) + text.render(rows, face)


class Counting:
    """A line that says how many samples are read: on a terminal only, and only after a second."""

    def __init__(self) -> None:
        self._on = sys.stderr.isatty()
        self._start = self._last = time.monotonic()
        self._shown = False

    def __call__(self, count: int) -> None:
        """Hear that `count` samples are read."""
        if not self._on or count % 256:
            return
        now = time.monotonic()
        if now - self._start >= PATIENCE_S and now - self._last >= 0.1:
            self._last, self._shown = now, True
            sys.stderr.write(f"\rreading: {count:,} samples")
            sys.stderr.flush()

    def __enter__(self) -> Counting:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * 40 + "\r")
            sys.stderr.flush()
