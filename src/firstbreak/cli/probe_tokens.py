"""`firstbreak probe --tokens TRAINER`: a trainer of language models on small tasks with known answers."""

from __future__ import annotations

import argparse

from .inspecting import show

EPILOG = """\
With --tokens, TRAINER is one of
  module:train, file.py:train            train(task, *, steps, seed[, beta]) -> model, where task holds prompts, a
                                         reward and a tiny model (firstbreak.probes.tokens.task)
  trl:GRPO, trl:RLOO, trl:PPO            TRL's trainers on a tiny local Llama; TRL has a PPO trainer up to 1.12
  language:GRPO, language:RLHFPPO, language:AsyncGRPO
                                         the small trainers of firstbreak.trainers.language
"""


def run(args: argparse.Namespace) -> int:
    """Climb the ladder for language models and print; return the exit status."""
    from ..errors import InputError
    from ..isolation import Limits
    from ..probes.tokens.api import probe_tokens

    if not args.trainer or args.script:
        raise InputError("--tokens needs a TRAINER.", "See: firstbreak probe --help")
    limits = Limits(args.time_limit * 4, args.silence_limit, int(args.memory_limit * (1 << 30)))
    seen = probe_tokens(
        args.trainer, seed=args.seed, everything=args.everything, seconds=args.time_limit, limits=limits
    )
    return show(args, [seen])
