"""`firstbreak preflight env`: an environment."""

from __future__ import annotations

import argparse
from pathlib import Path

from .inspecting import STATUS, add_limits, add_output, show

EPILOG = f"""\
ENV is a Gymnasium id, or module:factory (file.py:factory) that returns a Gymnasium, TorchRL, PettingZoo parallel,
vector or old gym environment.

examples:
  firstbreak preflight env CartPole-v1
  firstbreak preflight env my_envs.py:make_env --save-scripts repro/
  firstbreak preflight env my_envs:make --policy agent:act --expert my_envs:controller

{STATUS}"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.epilog = EPILOG
    parser.add_argument("env", metavar="ENV", help="a Gymnasium id or module:factory")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of everything drawn (default: 0)")
    parser.add_argument("--budget", type=float, default=10.0, metavar="S", help="seconds of play (default: 10)")
    parser.add_argument("--policy", metavar="MODULE:FN", help="obs -> action: are its actions what the env takes?")
    parser.add_argument("--expert", metavar="MODULE:FN", help="a weak expert: is it clearly better than random?")
    parser.add_argument("--episodes", type=int, default=100, metavar="N", help="episodes of each baseline")
    parser.add_argument("--save-scripts", metavar="DIR", help="write a script that reproduces each failure")
    add_limits(parser, 120.0)
    add_output(parser, again=True)


def run(args: argparse.Namespace) -> int:
    """Inspect and print; return the exit status."""
    from ..isolation import Limits
    from ..preflight.environment.api import inspect_environment

    limits = Limits(args.time_limit, args.silence_limit, int(args.memory_limit * (1 << 30)))
    scripts = Path(args.save_scripts) if args.save_scripts else None
    seen = [inspect_environment(args.env, seed=args.seed, budget_s=args.budget, limits=limits, save_scripts=scripts)]
    if args.policy or args.expert:
        from ..preflight.policy.api import inspect_policy

        seen.append(
            inspect_policy(args.env, policy=args.policy, expert=args.expert, episodes=args.episodes, limits=limits)
        )
    return show(args, seen)
