"""`firstbreak preflight tokens`: the loss of a language-model trainer, without training."""

from __future__ import annotations

import argparse

from .inspecting import STATUS, add_limits, add_output, show

EPILOG = f"""\
TRAINER is module:name or file.py:name of one of
  a function that returns firstbreak.preflight.tokens.pieces.TokenPieces (a loss on token batches, a batch, a model)
  a function that returns a GRPOTrainer, RLOOTrainer or PPOTrainer of TRL (which has the last one up to
  1.12), or a trainer with a method token_pieces()
or trl:GRPO, trl:RLOO, trl:PPO for TRL's own on a tiny local Llama.

Nothing is trained: the loss is asked on batches whose answer is known.

examples:
  firstbreak preflight tokens my_grpo.py:make
  firstbreak preflight tokens my_grpo.py:make --full

{STATUS}"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.epilog = EPILOG
    parser.add_argument("trainer", metavar="TRAINER", help="the function that returns the trainer or its token pieces")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of everything drawn (default: 0)")
    add_limits(parser, 300.0, silence_s=120.0)
    add_output(parser, again=True)


def run(args: argparse.Namespace) -> int:
    """Inspect and print; return the exit status."""
    from ..isolation import Limits
    from ..preflight.tokens.api import inspect_tokens

    limits = Limits(args.time_limit, args.silence_limit, int(args.memory_limit * (1 << 30)))
    return show(args, [inspect_tokens(args.trainer, seed=args.seed, limits=limits)])
