"""`firstbreak preflight invariants`: a trainer's code, without training."""

from __future__ import annotations

import argparse

from .inspecting import STATUS, add_limits, add_output, show

EPILOG = f"""\
TRAINER is one of
  sb3:NAME                               PPO, A2C, DQN, SAC, TD3 or DDPG of Stable-Baselines3
  torchrl:module:make                    make(make_env, *, total_steps, seed[, gamma]) -> Parts, a TorchRL collector
                                         and loss, on-policy or with a replay buffer, as for firstbreak probe
  module:name, file.py:name              a class derived from one of these, a trainer of firstbreak.trainers, a
                                         function that returns Pieces (firstbreak.preflight.invariants), or one that
                                         trains and carries such a function: train.pieces

examples:
  firstbreak preflight invariants sb3:SAC
  firstbreak preflight invariants my_trainer.py:pieces --full

{STATUS}"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.epilog = EPILOG
    parser.add_argument("trainer", metavar="TRAINER", help="the trainer, or the function that returns its pieces")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of everything drawn (default: 0)")
    add_limits(parser, 300.0, silence_s=120.0)
    add_output(parser, again=True)


def run(args: argparse.Namespace) -> int:
    """Inspect and print; return the exit status."""
    from ..isolation import Limits
    from ..preflight.invariants.api import inspect_trainer

    limits = Limits(args.time_limit, args.silence_limit, int(args.memory_limit * (1 << 30)))
    return show(args, [inspect_trainer(args.trainer, seed=args.seed, limits=limits)])
