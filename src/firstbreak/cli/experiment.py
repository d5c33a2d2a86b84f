"""`firstbreak experiment`: one hypothesis, one changed variable, a prediction, and a verdict."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import terminal
from .arguments import positive
from .exit_status import FOUND, OK, UNDECIDED
from .inspecting import add_limits

if TYPE_CHECKING:
    from ..experiments.conduct import Progress
    from ..experiments.experiment import Experiment
    from ..experiments.plan import Plan
    from ..experiments.result import Result

EPILOG = """\
Without NAME the experiments are listed; NAME alone prints the page of one. module:name is one of yours.

TRAINER is one of
  module:train, file.py:train            train(make_env, *, total_steps, seed) -> agent with act(obs, deterministic)
  sb3:PPO, sb3:A2C, sb3:DQN, sb3:SAC     a Stable-Baselines3 algorithm, as firstbreak probe sets it up for small
                                         tasks: give the settings of your run with --set
  torchrl:module:make                    parts of TorchRL (firstbreak.probes.adapters.torchrl)

The trainer is run once for each arm and seed, in child processes. The control runs first: when it does not show the
symptom, nothing else is concluded.

examples:
  firstbreak experiment
  firstbreak experiment zero-learning-rate my_ppo.py:train --env CartPole-v1
  firstbreak experiment batch-x4 sb3:PPO --env CartPole-v1 --with expect=400 --set n_steps=32
  firstbreak experiment oracle-against-random --env my_envs:make --with expert=my_envs:expert

exit status: 0 refuted; 1 confirmed; 2 bad input; 3 inconclusive"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.epilog = EPILOG
    parser.add_argument("name", nargs="?", metavar="NAME", help="the experiment")
    parser.add_argument("trainer", nargs="?", default="", metavar="TRAINER", help="the trainer")
    parser.add_argument("--trainer", dest="named", default="", metavar="TRAINER", help="the same, by name")
    parser.add_argument("--env", default="", metavar="ID", help="a Gymnasium id or module:factory")
    parser.add_argument("--steps", type=int, metavar="N", help="environment steps of one training")
    parser.add_argument("--set", action="append", default=[], metavar="K=V", help="a setting of the trainer, both arms")
    text = "something else that it needs or takes, which its page lists (expect=400, episodes=50)"
    parser.add_argument("--with", action="append", default=[], dest="given", metavar="K=V", help=text)
    _add_seeds(parser)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="child processes at a time (default: 1)")
    parser.add_argument("--ray", nargs="?", const="auto", metavar="ADDRESS", help="run on a Ray cluster instead")
    add_limits(parser, 600.0, silence_s=120.0)
    out = parser.add_argument_group("output")
    out.add_argument("--format", choices=("text", "json"), default="text", help="face of the report (default: text)")
    out.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    out.add_argument("--output", metavar="FILE", help="write the report there instead of printing it")
    out.add_argument("--run", metavar="DIR", help="record plan and result beside this run")
    out.add_argument("--undecided-ok", action="store_true", help="exit 0 instead of 3 when inconclusive")


def _add_seeds(parser: argparse.ArgumentParser) -> None:
    seeds = parser.add_argument_group("seeds")
    text = "pairs of seeds; auto: a pilot, then as many as its spread asks for (default)"
    seeds.add_argument("--seeds", default="auto", metavar="auto|N", help=text)
    seeds.add_argument("--most-seeds", type=int, default=20, metavar="N", help="auto: at most (default: %(default)s)")
    seeds.add_argument("--first-seed", type=int, default=0, metavar="N", help="the first seed (default: 0)")
    text = "the smallest effect that matters, in the unit of the effect (default: the experiment's own rule)"
    seeds.add_argument("--margin", type=float, metavar="X", help=text)
    text = "begin no further trial after so many seconds in all"
    seeds.add_argument("--budget", type=positive, metavar="S", help=text)


def run(args: argparse.Namespace) -> int:
    """List, show or run; return the exit status."""
    from ..experiments.experiment import all_experiments, find_experiment
    from ..report.experiment.text import about, listing

    if not args.name:
        terminal.say(listing(all_experiments(), terminal.face()))
        return OK
    one = find_experiment(args.name)
    args.trainer = _trainer(args)
    if not (args.trainer or args.env or args.given):
        terminal.say(about(one, terminal.face()))
        return OK
    return _show(args, _run(args, one))


def _trainer(args: argparse.Namespace) -> str:
    """Return the trainer, given at its place or by name as `settle` takes it.

    Raises:
        InputError: two were given.
    """
    from ..errors import InputError

    if args.trainer and args.named and args.trainer != args.named:
        raise InputError(f"Two trainers were given: {args.trainer} and {args.named}.", "Give one of them.")
    return args.trainer or args.named


def _run(args: argparse.Namespace, one: Experiment) -> Result:
    from ..experiments.api import run_experiment
    from ..experiments.result import FOLDER
    from ..experiments.subject import Subject
    from ..isolation import Limits

    given = given_of(args.given, one)
    subject = Subject(args.trainer, args.env, args.steps, pairs_of(args.set, "--set"), given)
    with telling_what_was_kept(), Bar() as bar:
        return run_experiment(
            one,
            subject,
            _protocol(args),
            executor=executor_of(args),
            limits=Limits(args.time_limit, args.silence_limit, int(args.memory_limit * (1 << 30))),
            seconds=args.budget,
            folder=Path(args.run) / FOLDER if args.run else None,
            planned=_announce if args.format == "text" and not args.output else None,
            tell=bar,
        )


def _protocol(args: argparse.Namespace) -> Any:
    from ..errors import InputError
    from ..experiments.plan import Protocol

    if args.seeds != "auto" and not args.seeds.isdigit():
        raise InputError(f"--seeds {args.seeds} is neither auto nor a number.", "For example: --seeds 10")
    seeds = None if args.seeds == "auto" else int(args.seeds)
    return Protocol(seeds=seeds, most=args.most_seeds, first_seed=args.first_seed, margin=args.margin)


def executor_of(args: argparse.Namespace) -> Any:
    """Return where trials run: on the cluster of `--ray`, else in `--jobs` child processes here."""
    if args.ray:
        from ..experiments.running.on_ray import OnRay

        return OnRay(address=args.ray)
    from ..experiments.running.executor import Local

    return Local(args.jobs)


def _announce(plan: Plan) -> None:
    from ..report.experiment.text import announce

    if sys.stderr.isatty():
        sys.stderr.write(announce(plan, terminal.face()) + "\n")


def _show(args: argparse.Namespace, result: Result) -> int:
    if args.format == "json":
        from ..report.experiment.json import document
        from ..report.json import dumps

        text = dumps(document(result))
    else:
        from ..report.experiment.text import render
        from ..report.page import PLAIN

        text = render(result, PLAIN if args.output else terminal.face())
    if args.output:
        terminal.note(terminal.save(text, Path(args.output)))
    else:
        terminal.say(text)
    return status_of(result, undecided_ok=args.undecided_ok)


def status_of(result: Result, *, undecided_ok: bool = False) -> int:
    """Return 1 when the hypothesis is confirmed, 0 when it is refuted, 3 when it stays open."""
    found = {"confirmed": FOUND, "refuted": OK}.get(result.outcome.value, UNDECIDED)
    return OK if found == UNDECIDED and undecided_ok else found


def given_of(texts: list[str], one: Experiment | None = None) -> dict[str, Any]:
    """Return what `--with` gives to the experiment `one`, or to whichever will be chosen, as a table.

    Raises:
        InputError: a text is no `KEY=VALUE`, or only other experiments read it; UnknownNameError: none does.
    """
    from ..experiments.options import insist_on_known

    given = pairs_of(texts, "--with")
    insist_on_known(given, one)
    return given


def pairs_of(texts: list[str], option: str) -> dict[str, Any]:
    """Return `KEY=VALUE` texts as a table; a value is JSON where it can be read as such, and text otherwise.

    Raises:
        InputError: one has no `=`, or a key is given twice.
    """
    from ..errors import InputError

    found: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InputError(f"{option} {text!r} is not KEY=VALUE.", f"For example: {option} learning_rate=3e-4")
        if key in found:
            raise InputError(f"{option} {key} is given twice.", "Give it once.")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found


@contextmanager
def telling_what_was_kept() -> Generator[None, None, None]:
    """Say after Ctrl-C what was kept of an experiment; `firstbreak` then says that it was interrupted."""
    try:
        yield
    except KeyboardInterrupt as stopped:
        if str(stopped):
            terminal.note(str(stopped))
        raise


class Bar:
    """A line that says how many trials are done; on a terminal only, wiped at the end."""

    WIDTH = 20

    def __init__(self) -> None:
        self.on = sys.stderr.isatty()
        self.shown = 0

    def __call__(self, progress: Progress) -> None:
        """Hear that a trial ended."""
        if not self.on:
            return
        full = round(self.WIDTH * progress.done / progress.planned)
        left = progress.seconds / progress.done * (progress.planned - progress.done)
        bar = "#" * full + "." * (self.WIDTH - full)
        text = f"[{bar}] {progress.done} of {progress.planned} trials, about {left:.0f} s left"
        sys.stderr.write("\r" + text.ljust(self.shown))
        sys.stderr.flush()
        self.shown = len(text)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *exc: object) -> None:
        if self.shown:
            sys.stderr.write("\r" + " " * self.shown + "\r")
            sys.stderr.flush()
