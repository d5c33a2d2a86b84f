"""`firstbreak preflight task`: is there a gap to close, and is the goal within reach?"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import InputError
from .inspecting import STATUS, add_limits, add_output, show

EPILOG = f"""\
Two ways to ask:
  with TARGET (a Gymnasium id or module:factory) whole episodes are played at
  random and with the policies that --expert and --trained name: module:fn from
  observation to action, or an object with act or predict;
  without it, --random, --expert and --trained are files of returns: a table
  with one row per episode (or per step) and the columns return, length,
  truncated, goal_reached as far as known, or a JSON list of numbers.

examples:
  firstbreak preflight task CartPole-v1 --expert my_policies.py:balance
  firstbreak preflight task my_envs:make --expert my_envs:pd --goal is_success
  firstbreak preflight task --random random.csv --trained run7.json

{STATUS}"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.epilog = EPILOG
    parser.add_argument("target", nargs="?", metavar="TARGET", help="a Gymnasium id or module:factory to be played")
    parser.add_argument("--random", metavar="FILE", help="returns of random play, when nothing is played")
    parser.add_argument("--expert", metavar="FILE|MODULE:POLICY", help="a policy known to be good, or its returns")
    parser.add_argument("--trained", metavar="FILE|MODULE:POLICY", help="the policy that was trained, or its returns")
    parser.add_argument("--goal", metavar="KEY|MODULE:FN", help="the goal region: key of info, or obs -> bool")
    parser.add_argument("--episodes", type=int, default=100, metavar="N", help="played per policy (default: 100)")
    add_limits(parser, 400.0)
    add_output(parser, again=True)


def run(args: argparse.Namespace) -> int:
    """Inspect and print; return the exit status."""
    from ..isolation import Limits
    from ..preflight.task.api import inspect_task

    (_refuse_files if args.target else _refuse_policies)(args)
    if args.episodes < 1:
        raise InputError(f"--episodes is {args.episodes}.", "Give at least 20, so that means can be compared.")
    limits = Limits(args.time_limit, args.silence_limit, int(args.memory_limit * (1 << 30)))
    seen = inspect_task(
        args.target,
        random=args.random,
        expert=args.expert,
        trained=args.trained,
        goal=args.goal,
        episodes=args.episodes,
        limits=limits,
    )
    return show(args, [seen])


def _refuse_files(args: argparse.Namespace) -> None:
    """With an environment, returns from files would not be compared under the same conditions."""
    if args.random:
        raise InputError("--random is a file of returns, but TARGET is played at random.", "Leave out one of the two.")
    for option in ("expert", "trained"):
        given = getattr(args, option)
        if given and Path(given).is_file():
            raise InputError(f"--{option} {given} is a file, but TARGET is played.", "Name a policy, or drop TARGET.")


def _refuse_policies(args: argparse.Namespace) -> None:
    from ..target import is_target

    if not (args.random or args.expert or args.trained):
        raise InputError("Nothing to look at.", "Give an environment, or files of returns: --random, --trained.")
    if args.goal:
        raise InputError("--goal needs an environment.", "In a file, goal_reached is a column.")
    for option in ("random", "expert", "trained"):
        given = getattr(args, option)
        if given and is_target(given) and not Path(given).exists():
            raise InputError(f"--{option} {given} is a policy, but there is no TARGET.", "Name the environment first.")
