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
  firstbreak preflight reward scores.csv --metric-direction latency=lower
  firstbreak preflight reward CartPole-v1 --shaping terms.py:upright --gamma 0.99
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
        "--metric-direction", action="append", default=[], metavar="[NAME=]higher|lower", help="which way it is better"
    )
    parser.add_argument(
        "--column", action="append", default=[], metavar="ROLE=NAME", help="a table's column with an odd name"
    )
    parser.add_argument("--gamma", type=float, default=0.99, metavar="G", help="the agent's discount (default: 0.99)")
    parser.add_argument("--steps", type=int, default=20_000, metavar="N", help="steps of random play (default: 20000)")
    shaping = parser.add_argument_group("a shaping term, checked to be gamma * potential(s') - potential(s)")
    shaping.add_argument("--shaping", metavar="MODULE:FN", help="F(s, a, s', terminated, truncated, t), or its first 3")
    shaping.add_argument("--potential", metavar="MODULE:FN", help="PHI(s) or PHI(s, t); without it, one is sought")
    shaping.add_argument("--endless", action="store_true", help="the task has no true ends")
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
        metric_direction=_directions(args.metric_direction),
        columns=columns_named(args.column),
        gamma=args.gamma,
        steps=args.steps,
        shaping=_target(args.shaping, "--shaping"),
        potential=_target(args.potential, "--potential"),
        endless=args.endless,
        limits=limits,
    )
    return show(args, [seen])


def _directions(given: list[str]) -> dict[str, str]:
    """Return which way each metric is better; "" stands for all of them.

    Raises:
        InputError: a text ends neither in `higher` nor in `lower`.
    """
    found = dict[str, str]()
    for text in given:
        name, _, way = text.rpartition("=")
        if way not in ("higher", "lower"):
            raise InputError(f"--metric-direction {text!r} is not [NAME=]higher|lower.", "For example: latency=lower")
        found[name] = way
    return found


def _target(given: str | None, option: str) -> str | None:
    """Refuse what names no function before anything is played.

    Raises:
        InputError: it is not `module:fn`.
    """
    from ..target import is_target

    if given is not None and not is_target(given):
        raise InputError(f"{option} {given!r} is not module:fn.", f"For example: {option} terms.py:upright")
    return given
