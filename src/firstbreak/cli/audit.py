"""`firstbreak audit`: look at what the model does, and at what it is paid for."""

from __future__ import annotations

import argparse
import importlib
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .arguments import Parser
from .inspecting import STATUS, Below, add_output, show
from .pairs import columns_named
from .progress import RowProgress

if TYPE_CHECKING:
    from ..audit.table import Table

WHAT: dict[str, tuple[str, str]] = {
    "verifier": ("firstbreak.cli.audit_verifier", "a verifier: can it be fooled, does it accept what is right?"),
    "reward-model": ("firstbreak.cli.audit_reward_model", "a reward model: pairs, length, calibration, drift"),
    "label": ("firstbreak.cli.audit_label", "label samples that tell most; the labels come back as human scores"),
}
"""What can be audited beside samples: the module that does it, one line of help."""
SAMPLES = "samples"
SHOWING = ("text", "html", "json")
"""Faces that have room for samples."""

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
    parser.add_argument(
        "--mask", "--redact", action="store_true", help="take personal data out of the samples printed", **first
    )
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

    columns = columns_named(args.column)
    with RowProgress() as counting:
        table, report = read_table(path, columns=columns, framework=args.framework, labels=args.labels, count=counting)
        report.demand(columns, args.samples)
        if args.reference:
            before, _ = read_table(args.reference, columns=columns, framework=args.framework, count=counting)
            table = replace(table, reference=before)
    seen = audit_table(table, report)
    if args.oracle:
        seen = with_oracle(seen, table, args.oracle)
    return show(args, [seen], _below(table, args) if args.show else None)


def _below(table: Table, args: argparse.Namespace) -> Below:
    from ..audit.views import shown
    from ..report.audit import html, text, words

    rows = shown(table, args.show, mask=args.mask)
    return Below(partial(text.render, rows), partial(html.section, rows), partial(words.data, rows))


def _there(path: str) -> Path:
    found = Path(path)
    if not found.exists():
        import difflib

        close = difflib.get_close_matches(path, list(WHAT), n=1, cutoff=0.7)
        if close:
            raise InputError(f"{path}: no such file.", f"Did you mean: firstbreak audit {close[0]}")
    return found
