"""`firstbreak audit reward-model`: pairs, length, calibration, style and drift of a reward model."""

from __future__ import annotations

import argparse

from ..errors import InputError
from .inspecting import STATUS, add_limits, add_output, show

EPILOG = f"""\
TARGET is module:function or file.py:function, called as
fn(prompts, responses) -> scores, or a folder with a sequence-classification
model (transformers). PAIRS holds prompt, chosen, rejected and, for figures by
category, subset: RewardBench's format, as JSONL, CSV or Parquet.
GOLDEN holds prompt, response and the recorded score; --before FILE holds the
scores where they stand apart.

examples:
  firstbreak audit reward-model my_rm.py:score --pairs rewardbench.parquet
  firstbreak audit reward-model ./rm_checkpoint --pairs pairs.jsonl --rows 500
  firstbreak audit reward-model my_rm.py:score --pairs pairs.jsonl --golden golden.jsonl

{STATUS}"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.epilog = EPILOG
    parser.add_argument("target", metavar="TARGET", help="module:function, file.py:function, or a model's folder")
    parser.add_argument("--pairs", metavar="FILE", required=True, help="preference pairs")
    parser.add_argument("--golden", metavar="FILE", help="responses with recorded scores")
    parser.add_argument("--before", metavar="FILE", help="the recorded scores, where they stand apart")
    parser.add_argument("--rows", type=int, default=2000, metavar="N", help="most pairs scored (default: 2000)")
    add_limits(parser, 600.0, 120.0)
    add_output(parser, again=True)


def run(args: argparse.Namespace) -> int:
    """Audit and print; return the exit status."""
    from ..audit.reward_model.api import audit_reward_model
    from ..isolation import Limits

    if args.rows < 1:
        raise InputError(f"--rows is {args.rows}.", "Give at least 1; intervals need some hundred.")
    seen = audit_reward_model(
        args.target,
        args.pairs,
        golden=args.golden,
        before=args.before,
        most=args.rows,
        limits=Limits(args.time_limit, args.silence_limit, int(args.memory_limit * (1 << 30))),
    )
    return show(args, [seen])
