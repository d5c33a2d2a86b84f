"""Argument parsing that fails like the rest of firstbreak: a message and a hint instead of a usage dump."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any, NoReturn

from .. import __version__
from .help_text import HelpText

EPILOG = """\
start here:
  firstbreak demo                        see what a report looks like
  firstbreak diagnose runs/my_run        diagnose a run, whatever logged it
  firstbreak start "reward stays flat"   find where to look first

exit status: 0 healthy, 1 broken, 2 bad input, 3 undecided"""


def positive(text: str) -> float:
    """Return a number above 0.

    Raises:
        ArgumentTypeError: it is none.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


class Parser(argparse.ArgumentParser):
    """An `ArgumentParser` whose complaints are `InputError`s."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("formatter_class", HelpText)
        settings.setdefault("allow_abbrev", False)
        super().__init__(**settings)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and leaving."""
        from ..errors import InputError

        raise InputError(f"{message[:1].upper()}{message[1:]}.", f"See: {self.prog} --help")

    def asked(self, arguments: Sequence[str]) -> Parser:
        """Return the parser of the innermost command that `arguments` name."""
        found: Parser = self
        for word in arguments:
            names: list[dict[str, Any]] = [getattr(action, "_name_parser_map", {}) for action in found._actions]
            found = next((inner[word] for inner in names if word in inner), found)
        return found

    def options(self) -> list[str]:
        """Return the long options that exist."""
        return [o for action in self._actions for o in action.option_strings if o.startswith("--")]


def top_parser() -> tuple[Parser, Any]:
    """Return the parser of the whole command and the place where commands are added."""
    parser = Parser(
        prog="firstbreak",
        description="Says which link of a reinforcement-learning training loop broke first, on what evidence,\n"
        "and which small experiment proves it.",
        epilog=EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"firstbreak {__version__}")
    return parser, parser.add_subparsers(dest="command", metavar="command", parser_class=Parser)
