"""The command line: one thin module a command, imported only when it is the one asked for."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from .arguments import Parser, top_parser
from .commands import COMMANDS

if TYPE_CHECKING:
    from ..errors import FirstbreakError, InputError, UnknownNameError

INTERRUPTED = 130
"""Exit status after Ctrl-C: 128 + SIGINT."""
TERMINATED = 143
"""Exit status after SIGTERM: 128 + SIGTERM."""
CANNOT_WRITE = 2
"""Exit status when the place that our output goes to takes no more."""
PIPE_CLOSED = 141
"""Exit status when the reader of our output went away: 128 + SIGPIPE."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status (docs/design.md, section 7)."""
    from ..errors import FirstbreakError

    arguments = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        _clean_up_when_terminated()
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        status = _quietly(partial(_run, arguments))
    except FirstbreakError as error:
        return _quietly(partial(_complain, error, arguments))
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED
    return status


def _clean_up_when_terminated() -> None:
    """Let SIGTERM unwind the stack: child processes are stopped and temporary folders removed on the way out.

    What the caller set for the signal (`nohup` and the like ignore some) is left as it is.
    """
    import signal

    def leave(number: int, frame: object) -> None:
        del number, frame
        raise SystemExit(TERMINATED)

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, leave)


def _open_closed_streams() -> None:
    """Give a process that was started without an output (`>&-`) one that goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (lives as long as the process)


def _quietly(work: Callable[[], int]) -> int:
    """Do `work`; when the reader of our output went away meanwhile, end without a word."""
    from ..errors import FirstbreakError

    try:
        status = work()
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return PIPE_CLOSED
    except FirstbreakError:  # some of these are OSErrors too
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        _discard_output()
        print(f"firstbreak: the output cannot be written: {error.strerror}.", file=sys.stderr)
        return CANNOT_WRITE
    return status


def _discard_output() -> None:
    """Let what is still unwritten go nowhere: the interpreter flushes stdout once more on its way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> int:
    chosen = next((a for a in arguments if not a.startswith("-")), "")
    parser, subparsers = top_parser()
    for name, (module, line) in COMMANDS.items():
        sub: Parser = subparsers.add_parser(name, help=line, description=line)
        if name == chosen:
            importlib.import_module(module).add(sub)
    if not arguments:
        parser.print_help()
        return 0
    if chosen and chosen not in COMMANDS and arguments[0] == chosen:
        raise _unknown_command(chosen)
    args = _parsed(parser, arguments)
    if not args.command:
        parser.print_help()
        return 0
    return int(importlib.import_module(COMMANDS[args.command][0]).run(args))


def _parsed(parser: Parser, arguments: list[str]) -> argparse.Namespace:
    """Parse; what names a trainer or a run may stand behind the options too, which argparse alone does not take."""
    args, unknown = parser.parse_known_args(arguments)
    rest, late = arguments[: -len(unknown)], arguments[len(arguments) - len(unknown) :]
    first = next((i for i, word in enumerate(rest) if word.startswith("-")), 0)
    if unknown and first and late == unknown and "--" not in arguments:
        args, unknown = parser.parse_known_args([*rest[:first], *late, *rest[first:]])
    if unknown:
        raise _unknown_argument(unknown[0], parser.asked(arguments))
    return args


def _unknown_command(name: str) -> UnknownNameError:
    from ..errors import UnknownNameError, unknown_name

    if os.path.exists(name):
        return UnknownNameError(f"No command named {name!r}.", f"To diagnose it: firstbreak diagnose {name}")
    error = unknown_name("command", name, COMMANDS)
    return UnknownNameError(error.message, error.hint or f"Commands: {', '.join(COMMANDS)}.")


def _unknown_argument(given: str, parser: Parser) -> InputError:
    """Return the error for an argument too many, or for an option that does not exist."""
    from ..errors import InputError, unknown_name

    see = f"See: {parser.prog} --help"
    if not given.startswith("-"):
        return InputError(f"One argument too many: {given!r}.", f"Quote texts that hold spaces. {see}")
    hint = unknown_name("option", given.partition("=")[0], parser.options()).hint
    return InputError(f"No option named {given!r}.", f"{hint} {see}".strip())


def _wants_json(arguments: Sequence[str]) -> bool:
    """Whether the arguments ask for JSON; they may not have been parsed."""
    pairs = zip(arguments, [*arguments[1:], ""], strict=True)
    return any(a == "--format=json" or (a == "--format" and b == "json") for a, b in pairs)


def _complain(error: FirstbreakError, arguments: list[str]) -> int:
    """Print what went wrong: a JSON document for programs, two lines for people. Never a traceback."""
    from ..report.clean import plain

    if _wants_json(arguments):
        from ..report.json import dumps, error_document

        print(dumps(error_document(error)))
    else:
        print(f"firstbreak: {plain(error.message, 1000)}", file=sys.stderr)
        for line in error.hint.splitlines():
            print(f"  {plain(line, 1000)}", file=sys.stderr)
    return 2
