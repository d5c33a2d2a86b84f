"""`firstbreak settle`: which experiment would tell the causes of a run apart, and what recorded ones have told."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from . import terminal
from .arguments import positive
from .exit_status import FOUND, OK, UNDECIDED
from .experiment import Bar, executor_of, given_of, pairs_of, telling_what_was_kept
from .inspecting import add_limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..experiments.settle.api import Settling
    from ..experiments.subject import Subject

EPILOG = """\
RUN is diagnosed as `firstbreak diagnose` does. Experiments that were recorded beside it (`firstbreak experiment ...
--run RUN`) raise or remove causes. For what is left open, the experiment that is expected to tell most for its cost
is named, with its command where a trainer is given, and its recipe otherwise. --go makes it, and settles anew.

examples:
  firstbreak settle runs/grpo
  firstbreak settle runs/ppo --trainer train.py:train --env CartPole-v1
  firstbreak settle runs/grpo --with generate=serve.py:generate --with prompts=prompts.jsonl --with cap=512 --go

exit status: 0 no cause to look into; 1 a cause is convicted; 2 bad input; 3 open"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.epilog = EPILOG
    parser.add_argument("path", nargs="?", metavar="RUN", help="a log, a run, or a folder of runs")
    parser.add_argument(
        "--go", action="store_true", help="make the most telling experiment that can be made, and record it"
    )
    subject = parser.add_argument_group("what can be experimented on")
    subject.add_argument("--trainer", default="", metavar="TRAINER", help="see: firstbreak experiment --help")
    subject.add_argument("--env", default="", metavar="ID", help="a Gymnasium id or module:factory")
    subject.add_argument("--steps", type=int, metavar="N", help="steps of one training")
    subject.add_argument("--set", action="append", default=[], metavar="K=V", help="a setting of the trainer")
    text = "something else that an experiment takes (scorer=module:function, samples=FILE)"
    subject.add_argument("--with", action="append", default=[], dest="given", metavar="K=V", help=text)
    subject.add_argument("--jobs", type=int, default=1, metavar="N", help="child processes at a time (default: 1)")
    subject.add_argument("--ray", nargs="?", const="auto", metavar="ADDRESS", help="run on a Ray cluster instead")
    subject.add_argument("--budget", type=positive, metavar="S", help="begin no further trial after so many seconds")
    add_limits(parser, 600.0, silence_s=120.0)
    read = parser.add_argument_group("reading")
    read.add_argument("--algorithm", metavar="NAME", help="PPO, SAC, DQN, GRPO ... where the log does not say")
    read.add_argument("--framework", metavar="NAME", help="whose names the log uses, where it does not say")
    read.add_argument(
        "--given", action="append", default=[], dest="lacking", metavar="KEY=VALUE", help="a setting the log lacks"
    )
    out = parser.add_argument_group("output")
    out.add_argument("--format", choices=("text", "json"), default="text", help="face of the report (default: text)")
    out.add_argument("--output", metavar="FILE", help="write the report there instead of printing it")
    out.add_argument("--no-progress", action="store_true", help="never show how far a long read has come")
    out.add_argument("--undecided-ok", action="store_true", help="exit 0 instead of 3 while it is open")
    parser.set_defaults(verify=False)


def run(args: argparse.Namespace) -> int:
    """Diagnose, settle, experiment if asked to, print; return the exit status."""
    from ..experiments.subject import Subject
    from ..target import need_target

    if args.trainer:
        need_target(args.trainer.removeprefix("torchrl:"))
    subject = Subject(args.trainer, args.env, args.steps, pairs_of(args.set, "--set"), given_of(args.given))
    settlings = _settlings(args, subject)
    if args.go:
        settlings = [_go(args, settlings, subject)]
    for problem in dict.fromkeys(p for one in settlings for p in one.problems):
        terminal.note(f"left out: {problem}")
    text = _report(args, settlings)
    if args.output:
        terminal.note(terminal.save(text, Path(args.output)))
    else:
        terminal.say(text)
    return status_of(settlings, undecided_ok=args.undecided_ok)


def _settlings(args: argparse.Namespace, subject: Subject) -> list[Settling]:
    from ..api import diagnose_runs
    from ..config import find_settings
    from ..experiments.settle.api import settle_runs
    from .reading import newest_run, reader_for

    path = args.path if args.path is not None else newest_run(Path("."))
    settings = find_settings(Path(path))
    with reader_for(args, settings) as read:
        return settle_runs(diagnose_runs(path, settings, read=read, weigh=False), subject)


def _go(args: argparse.Namespace, settlings: Sequence[Settling], subject: Subject) -> Settling:
    """Make the most telling experiment of the one run there is.

    Raises:
        InputError: there are several runs, or nothing can be made as it stands.
    """
    from ..errors import InputError
    from ..experiments.settle.api import take_step
    from ..isolation import Limits

    if len(settlings) != 1:
        raise InputError(f"--go settles one run; there are {len(settlings)} here.", "Name one of them.")
    limits = Limits(args.time_limit, args.silence_limit, int(args.memory_limit * (1 << 30)))
    with telling_what_was_kept(), Bar() as bar:
        after = take_step(
            settlings[0], subject, executor=executor_of(args), limits=limits, seconds=args.budget, tell=bar
        )
    if after is None:
        lacking = [need.how for step in settlings[0].steps[:1] for need in step.lacks]
        hint = f"Give what it needs: {'; '.join(lacking)}" if lacking else "See what is made by hand: without --go"
        raise InputError("No experiment can be made as it stands.", hint)
    return after


def _report(args: argparse.Namespace, settlings: Sequence[Settling]) -> str:
    if args.format == "json":
        from ..report.json import dumps
        from ..report.settle.json import settle_document

        return dumps(settle_document(settlings))
    from ..report.page import PLAIN
    from ..report.settle.text import render

    face = PLAIN if args.output else terminal.face()
    return "\n".join(render(s, face) for s in settlings)


def status_of(settlings: Sequence[Settling], *, undecided_ok: bool = False) -> int:
    """Return 1 when some run has a convicted cause and none is open, 3 while one is open, else 0."""
    if any(s.open for s in settlings):
        return OK if undecided_ok else UNDECIDED
    return FOUND if any(s.settled.convicted for s in settlings) else OK
