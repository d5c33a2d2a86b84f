"""`firstbreak record`: run a command and write down what it was."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import InputError
from . import terminal

EPILOG = """\
Writes firstbreak-context.json into the folder of the run, at the start and at the end: command, settings, seeds, the
commit with what is not committed, packages, hardware, some environment variables (a fixed list), hashes of data, reward
functions and checkpoints, and how it ended. What looks like a secret is left out. The command's output, its input and
Ctrl-C are its own, and its exit status is passed on.

examples:
  firstbreak record --run runs/ppo-3 -- python train.py --seed 3
  firstbreak record --data prompts.jsonl --reward rewards.py:score -- python train.py --output-dir runs/grpo

exit status: that of the command (128 + n when signal n ended it); 2 when the record cannot be written"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = EPILOG
    parser.add_argument("--run", metavar="RUN", dest="run_folder", help="folder of the run, if the command names none")
    parser.add_argument("--config", metavar="FILE", help="the run's configuration in YAML, JSON or TOML")
    parser.add_argument("--data", action="append", default=[], metavar="PATH", help="a file or folder to hash")
    parser.add_argument(
        "--reward", action="append", default=[], metavar="TARGET", help="a file or file.py:name to hash"
    )
    parser.add_argument("--eval", action="append", default=[], metavar="COMMAND", help="a command that evaluates it")
    parser.add_argument("trainer", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the command and its arguments")


def run(args: argparse.Namespace) -> int:
    """Run the command; return its exit status."""
    from ..context.gathering import gather, read_settings
    from ..context.running import run as run_command

    command = args.trainer[1:] if args.trainer[:1] == ["--"] else args.trainer
    if not command:
        raise InputError("No command to record.", "For example: firstbreak record --run runs/a -- python train.py")
    folder = _folder(args.run_folder, command)
    missing = [path for path in args.data if not Path(path).exists()]
    if missing:
        raise InputError(f"{missing[0]}: no such file or folder.", "Give --data a path that exists.")
    unknown = [target for target in args.reward if not Path(_file_of(target)).exists()]
    if unknown:
        raise InputError(f"{_file_of(unknown[0])}: no such file.", "Give --reward a file, or file.py:name.")
    config = read_settings(Path(args.config)) if args.config else {}
    context = gather(command, Path.cwd(), config=config, data=args.data, rewards=args.reward, evaluations=args.eval)
    ran = run_command(command, context, folder)
    if ran.trouble:
        terminal.note(f"firstbreak: {ran.trouble}")
    return ran.status


def _file_of(target: str) -> str:
    """Return the file of `file.py:name`, or the text itself."""
    return target.rpartition(":")[0] if ".py:" in target else target


def _folder(given: str | None, command: list[str]) -> Path:
    from ..context.settings import arguments, run_folder

    found = Path(given) if given else run_folder(arguments(command))
    if found is None:
        raise InputError("Which folder is the run's?", "Say it: firstbreak record --run runs/a -- python train.py")
    return found
