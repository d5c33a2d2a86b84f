"""`firstbreak audit verifier`: what does a verifier let through, and what does it refuse?"""

from __future__ import annotations

import argparse

from ..errors import InputError
from .inspecting import STATUS, add_limits, add_output, show

EPILOG = f"""\
TARGET is module:function or file.py:function. It runs in child processes only.
How it is called is told from its parameters, or by --style:
  plain     fn(prompt, response, answer) -> score
  trl       fn(prompts, completions, **columns) -> list of scores (trl-chat: conversations)
  verl      fn(data_source, solution_str, ground_truth, extra_info) -> score
  areal     fn(prompt, completions, prompt_ids, completion_ids, answer) -> score
  openrlhf  fn(queries, prompts, labels) -> dictionary with rewards
Without --data it is asked small built-in questions: arithmetic, fractions,
choice, yes_no, sets, names, dates, units, code (--task). FILE (JSONL, CSV, Parquet)
holds prompt and answer, and may hold responses: good and bad.

examples:
  firstbreak audit verifier my_rewards.py:score
  firstbreak audit verifier my_rewards.py:score --data train.jsonl --rows 24
  firstbreak audit verifier my_rewards.py:judge --task choice --seconds 60

{STATUS}"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.epilog = EPILOG
    parser.add_argument("target", metavar="TARGET", help="module:function or file.py:function")
    parser.add_argument("--data", metavar="FILE", help="your questions and answers")
    parser.add_argument("--task", metavar="NAME", help="which built-in questions (default: what it understands)")
    parser.add_argument("--style", metavar="NAME", default="auto", help="how it is called (default: auto)")
    parser.add_argument("--pass-mark", type=float, metavar="X", help="score from which on a response counts as passed")
    parser.add_argument("--seconds", type=float, default=10.0, metavar="S", help="for one call (default: 10)")
    parser.add_argument("--rows", type=int, default=24, metavar="N", help="rows of the data used (default: 24)")
    add_limits(parser, 300.0)
    add_output(parser, again=True)


def run(args: argparse.Namespace) -> int:
    """Audit and print; return the exit status."""
    from ..audit.verifier.api import audit_verifier
    from ..isolation import Limits

    if args.seconds <= 0:
        raise InputError(f"--seconds is {args.seconds:g}.", "Give how long one call may take.")
    if args.rows < 1:
        raise InputError(f"--rows is {args.rows}.", "Give at least 1; intervals need some ten.")
    if args.data and args.task:
        raise InputError("--data and --task are given.", "Give one: your own questions, or which built-in ones.")
    seen = audit_verifier(
        args.target,
        data=args.data,
        task=args.task,
        style=args.style,
        pass_mark=args.pass_mark,
        seconds=args.seconds,
        rows=args.rows,
        limits=Limits(args.time_limit, args.silence_limit, int(args.memory_limit * (1 << 30))),
    )
    return show(args, [seen])
