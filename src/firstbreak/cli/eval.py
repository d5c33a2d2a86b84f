"""`firstbreak eval`: what scores were measured under, who looked, what leaked, and how sure a comparison is."""

from __future__ import annotations

import argparse
import importlib
from typing import Any

from ..errors import InputError
from .arguments import Parser

WHAT: dict[str, tuple[str, str]] = {
    "protocol": ("firstbreak.cli.eval_protocol", "write, check, compare and fingerprint a protocol file"),
    "contamination": ("firstbreak.cli.eval_contamination", "which evaluation prompts are in the training data"),
    "record": ("firstbreak.cli.eval_record", "add a result to the ledger; one look at a split"),
    "ledger": ("firstbreak.cli.eval_ledger", "who looked at which split how often; prove that nothing was changed"),
    "score": ("firstbreak.cli.eval_score", "sum up results: interval, pass@k, power"),
    "compare": ("firstbreak.cli.eval_compare", "compare two results of the same protocol"),
    "power": ("firstbreak.cli.eval_power", "how many episodes, items or seeds a difference needs"),
    "seeds": ("firstbreak.cli.eval_seeds", "which seeds training and evaluation share"),
    "normaliser": ("firstbreak.cli.eval_normaliser", "whether training and evaluation normalise observations alike"),
}
"""What can be asked: the module that does it, one line of help."""

EPILOG = """\
examples:
  firstbreak eval protocol init protocol.toml
  firstbreak eval contamination --train train.jsonl --eval test.jsonl
  firstbreak eval record scores.jsonl --split dev --protocol protocol.toml --ledger looks.db
  firstbreak eval compare before.jsonl after.jsonl
  firstbreak eval power --sd 25 --difference 10

exit status: 0 nothing wrong; 1 found (contamination, a changed ledger, a mismatch); 2 bad input; 3 cannot decide"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = EPILOG
    kinds: Any = parser.add_subparsers(dest="what", metavar="WHAT", parser_class=Parser)
    for name, (module, line) in WHAT.items():
        sub = kinds.add_parser(name, help=line, description=f"{line[:1].upper()}{line[1:]}.")
        importlib.import_module(module).add(sub)


def run(args: argparse.Namespace) -> int:
    """Do what was asked; return the exit status."""
    if args.what is None:
        raise InputError("Nothing to do.", f"Say what: {', '.join(WHAT)}. See: firstbreak eval --help")
    return int(importlib.import_module(WHAT[args.what][0]).run(args))
