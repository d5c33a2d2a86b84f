"""`firstbreak preflight`: prove the world, the reward, the data and the trainer's code before a run."""

from __future__ import annotations

import argparse
import importlib

from ..errors import InputError
from . import terminal
from .arguments import Parser
from .inspecting import STATUS

WHAT: dict[str, tuple[str, str]] = {
    "env": ("firstbreak.cli.preflight_env", "an environment: contract, determinism, numbers, episode ends, actions"),
    "reward": ("firstbreak.cli.preflight_reward", "a reward: does it say something, and the right thing?"),
    "task": ("firstbreak.cli.preflight_task", "a task, from returns of random, expert and trained policies"),
    "invariants": ("firstbreak.cli.preflight_invariants", "a trainer's code: exact checks in seconds, no training"),
    "tokens": ("firstbreak.cli.preflight_tokens", "a language-model trainer: its loss on token batches, no training"),
    "data": ("firstbreak.cli.preflight_data", "a data file: pairs, prompts, answers, tokens, masks"),
    "memory": ("firstbreak.cli.preflight_memory", "a plan of models and batches: does it fit?"),
}
"""What can be inspected: the module that does it, one line of help."""

EPILOG = f"""\
Without a word more, the checklist of [preflight] in firstbreak.toml is gone through: every row ends in
pass, fail or not looked at.

Your code runs in a child process with limits; a hang or a crash there is an answer, not an accident.

examples:
  firstbreak preflight env CartPole-v1
  firstbreak preflight env my_envs:make_env --expert my_envs:controller
  firstbreak preflight invariants sb3:PPO
  firstbreak preflight

{STATUS}"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    from .inspecting import add_output

    parser.epilog = EPILOG
    add_output(parser)
    parser.add_argument("--config", metavar="FILE", help="settings to use instead of the nearest firstbreak.toml")
    kinds = parser.add_subparsers(dest="what", metavar="WHAT", parser_class=Parser)
    for name, (module, line) in WHAT.items():
        importlib.import_module(module).add(kinds.add_parser(name, help=line, description=f"Inspect {line}"))


def run(args: argparse.Namespace) -> int:
    """Inspect what was asked for, or go through the checklist; return the exit status."""
    if args.what:
        return int(importlib.import_module(WHAT[args.what][0]).run(args))
    return _checklist(args)


def _checklist(args: argparse.Namespace) -> int:
    from pathlib import Path

    from ..config import find_settings, read_settings
    from ..preflight.checklist.run import run_plan

    settings = read_settings(Path(args.config)) if args.config else find_settings(Path("."))
    if not settings.preflight:
        raise InputError(
            "Nothing says what to inspect: there is no [preflight] in firstbreak.toml.",
            'Write one, for example:\n[preflight]\nenvironment = "CartPole-v1"\ntrainer = "sb3:PPO"\n'
            "or name one thing: firstbreak preflight env CartPole-v1",
        )
    checklist = run_plan(settings.preflight, tell=terminal.note)
    from .checklist import show

    return show(args, checklist)
