"""`firstbreak preflight data`: a file of pairs, prompts, answers or tokens."""

from __future__ import annotations

import argparse

from .inspecting import STATUS, add_output, show
from .pairs import columns_named


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.epilog = f"""\
FILE is JSONL, CSV or Parquet. Fields are known by their usual names (prompt, chosen, rejected, answer, completion,
input_ids, labels, attention_mask, messages ...). No text of the file is ever shown: findings name rows and counts.

{STATUS}"""
    parser.add_argument("file", metavar="FILE", help="the data")
    parser.add_argument(
        "--column", action="append", default=[], metavar="ROLE=NAME", help="a field with an odd name: prompt=frage"
    )
    parser.add_argument("--eval", metavar="FILE", help="evaluation data that must not be among it")
    add_output(parser, again=True)


def run(args: argparse.Namespace) -> int:
    """Inspect and print; return the exit status."""
    from ..preflight.data.api import inspect_data

    columns = columns_named(args.column, "prompt=frage")
    return show(args, [inspect_data(args.file, eval_path=args.eval, columns=columns)])
