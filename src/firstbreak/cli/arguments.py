"""Argument parsing that fails like the rest of firstbreak: a message and a hint instead of a usage dump."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from .. import __version__

EPILOG = """\
start here:
  firstbreak demo                        see what a report looks like
  firstbreak diagnose runs/my_run        diagnose a run, whatever logged it
  firstbreak start "reward stays flat"   find where to look first

exit status: 0 healthy, 1 broken, 2 bad input, 3 undecided"""


class Parser(argparse.ArgumentParser):
    """An `ArgumentParser` whose complaints are `InputError`s."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        settings.setdefault("allow_abbrev", False)
        super().__init__(**settings)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and leaving."""
        from ..errors import InputError

        raise InputError(f"{message[:1].upper()}{message[1:]}.", f"See: {self.prog} --help")

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
