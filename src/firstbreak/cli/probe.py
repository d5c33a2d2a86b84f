"""`firstbreak probe`: a trainer on small tasks with known answers."""

from __future__ import annotations

import argparse

from .inspecting import STATUS, add_limits, add_output, show
from .probe_tokens import EPILOG as TOKENS

EPILOG = f"""\
TRAINER is one of
  module:train, file.py:train            train(make_env, *, total_steps, seed[, gamma]) -> agent with
                                         act(obs, deterministic) and, where it has them, value(obs), q(obs, action)
  sb3:PPO                                a Stable-Baselines3 algorithm: PPO, A2C, DQN, SAC, TD3 or DDPG
  torchrl:module:make                    make(make_env, *, total_steps, seed[, gamma]) -> Parts, a TorchRL
                                         collector, loss, optimiser ... (firstbreak.probes.adapters.torchrl)
  --script COMMAND                       any script that takes an environment id

Each rung of the ladder adds one component to those below; the first that fails names it. About a minute for
on-policy and DQN, up to five for SAC and MM-RKHS, on two cores.

{TOKENS}
examples:
  firstbreak probe my_ppo.py:train
  firstbreak probe sb3:DQN --everything
  firstbreak probe --tokens my_grpo.py:train
  firstbreak probe --script "python ppo.py --env-id {{env_id}} --total-timesteps {{steps}} --seed {{seed}}"

{STATUS}"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.epilog = EPILOG
    parser.add_argument("trainer", nargs="?", metavar="TRAINER", help="the trainer")
    parser.add_argument("--script", metavar="COMMAND", help="a command with {env_id}, {steps} and {seed}")
    parser.add_argument("--tokens", action="store_true", help="TRAINER is one of language models: see below")
    parser.add_argument("--everything", action="store_true", help="climb on above a rung that fails")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="first seed (default: 0)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="trainings at a time (default: 2)")
    add_limits(parser, 600.0, silence_s=120.0)
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Climb the ladder and print; return the exit status."""
    from ..errors import InputError
    from ..isolation import Limits
    from ..probes.api import probe

    if args.jobs < 1:
        raise InputError(f"--jobs is {args.jobs}.", "Give the trainings to run at a time, at least 1.")
    if args.tokens:
        from .probe_tokens import run as run_tokens

        return run_tokens(args)
    if bool(args.trainer) == bool(args.script):
        raise InputError("Give a TRAINER or --script, one of the two.", "See: firstbreak probe --help")
    limits = Limits(args.time_limit, args.silence_limit, int(args.memory_limit * (1 << 30)))
    seen = probe(
        args.trainer or "",
        script=args.script,
        seed=args.seed,
        everything=args.everything,
        jobs=args.jobs,
        limits=limits,
    )
    return show(args, [seen])
