"""`firstbreak preflight reward`: does a reward say something, and the right thing?"""

from __future__ import annotations

import argparse

from ..errors import InputError
from .inspecting import STATUS, add_limits, add_output, show
from .pairs import columns_named

EPILOG = f"""\
TARGET is a Gymnasium id or module:factory (file.py:factory), which is then
played at random, or a table of rewards (CSV, TSV, JSON, JSON lines) with one
row per step, episode or answer. Columns such as reward, episode, group, human,
success, length and step are understood by name; --column says what others are.

examples:
  firstbreak preflight reward CartPole-v1
  firstbreak preflight reward my_envs.py:make --components progress,energy
  firstbreak preflight reward my_envs.py:make --metric distance_to_goal
  firstbreak preflight reward scores.csv --column reward=judge_v2

{STATUS}"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.epilog = EPILOG
    parser.add_argument("target", metavar="TARGET", help="a Gymnasium id, module:factory, or a table of rewards")
    parser.add_argument("--components", metavar="A,B", help="keys of info, or columns, that are parts of the reward")
    parser.add_argument(
        "--metric", metavar="KEY|MODULE:FN", help="what the task is about: key of info, column, or obs -> number"
    )
    parser.add_argument(
        "--column", action="append", default=[], metavar="ROLE=NAME", help="a table's column with an odd name"
    )
    parser.add_argument("--gamma", type=float, default=0.99, metavar="G", help="the agent's discount (default: 0.99)")
    parser.add_argument("--steps", type=int, default=20_000, metavar="N", help="steps of random play (default: 20000)")
    add_limits(parser, 120.0)
    add_output(parser, again=True)


def run(args: argparse.Namespace) -> int:
    """Inspect and print; return the exit status."""
    from ..isolation import Limits
    from ..preflight.reward.api import inspect_reward

    if not 0.0 <= args.gamma <= 1.0:
        raise InputError(f"--gamma is {args.gamma:g}.", "The discount lies between 0 and 1.")
    if args.steps < 1:
        raise InputError(f"--steps is {args.steps}.", "Give at least 1; a judgement needs some thousand.")
    limits = Limits(args.time_limit, args.silence_limit, int(args.memory_limit * (1 << 30)))
    seen = inspect_reward(
        args.target,
        components=[name.strip() for name in (args.components or "").split(",") if name.strip()],
        metric=args.metric,
        columns=columns_named(args.column),
        gamma=args.gamma,
        steps=args.steps,
        limits=limits,
    )
    return show(args, [seen])
