"""`firstbreak diagnose`: read a log, say what broke first."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from . import terminal
from .exit_status import BAD, status_of

if TYPE_CHECKING:
    from ..config import Settings
    from ..diagnosis import Diagnosis

FORMATS = ("text", "json", "markdown", "junit", "github", "html")
EPILOG = """\
PATH is a log file, the folder of a run, or a folder of runs; without it the newest run below this folder is read.
It may be the address of a run on a W&B or MLflow server; only then is anything fetched.
Nothing is sent anywhere, and nothing a log contains is executed.

examples:
  firstbreak diagnose runs/ppo --html report.html
  firstbreak diagnose runs/ --format json | jq '.runs[].verdict'
  firstbreak diagnose run/ --baseline healthy_runs/ --fail-on warning

exit status: 0 healthy or nothing at --fail-on; 1 findings at --fail-on; 2 bad input; 3 undecided"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = EPILOG
    parser.add_argument("path", nargs="?", metavar="PATH", help="a log, a run, a folder of runs, or a run's address")
    out = parser.add_argument_group("output")
    out.add_argument("--format", choices=FORMATS, default="text", help="face of the report (default: text)")
    out.add_argument("--output", metavar="FILE", help="write the report there instead of printing it")
    out.add_argument("--html", metavar="FILE", help="write a page with curves as well")
    out.add_argument("--full", action="store_true", help="show all findings, rules, keys and settings")
    out.add_argument("--bundle", metavar="FILE.zip", help="write a redacted bundle to share")
    out.add_argument("--no-progress", action="store_true", help="never show how far a long read has come")
    part = parser.add_argument_group("what to look at")
    part.add_argument("--last", default="", metavar="20%", help="only the last part, as a share or a number of steps")
    part.add_argument("--until", type=float, metavar="STEP", help="only up to this step")
    part.add_argument(
        "--baseline",
        metavar="RUN|DIR",
        help="healthy runs of the same task: three tell what leaves their band; what they also do is excused",
    )
    part.add_argument("--algorithm", metavar="NAME", help="PPO, SAC, DQN, GRPO ... where the log does not say")
    part.add_argument("--framework", metavar="NAME", help="whose names the log uses, where it does not say")
    part.add_argument(
        "--given", action="append", default=[], dest="lacking", metavar="KEY=VALUE", help="a setting the log lacks"
    )
    part.add_argument("--map", action="append", default=[], metavar="KEY=METRIC", help="KEY of the log is this metric")
    part.add_argument("--verify", action="store_true", help="check every checksum while reading (slower)")
    rules = parser.add_argument_group("rules")
    rules.add_argument("--select", action="append", default=[], metavar="RULE", help="run only these rules")
    rules.add_argument("--ignore", action="append", default=[], metavar="RULE", help="let this rule count for nothing")
    rules.add_argument("--why-not", metavar="RULE", help="say how this rule ended, and why")
    rules.add_argument("--fail-on", choices=("error", "warning", "info"), default="error", help="exit 1 from here on")
    rules.add_argument("--undecided-ok", action="store_true", help="exit 0 instead of 3 when undecided")


def run(args: argparse.Namespace) -> int:
    """Diagnose and print; return the exit status."""
    from ..registry import find_rule

    asked = find_rule(args.why_not) if args.why_not else None
    diagnoses = _diagnose(args)
    text = _report(args, diagnoses)
    # What is written beside comes first: where it fails, the output holds the error and nothing else.
    if args.html:
        from ..report.html import page

        terminal.note(terminal.save(page(diagnoses), Path(args.html)))
    if args.bundle:
        _bundle(diagnoses, Path(args.bundle))
    if args.output:
        terminal.note(terminal.save(text, Path(args.output)))
    else:
        terminal.say(text)
    if asked is not None and args.format == "text":
        from ..report.why_not import why_not

        for diagnosis in diagnoses:
            terminal.say(why_not(diagnosis, asked, terminal.face()))
    status = status_of(diagnoses, fail_on=args.fail_on, undecided_ok=args.undecided_ok)
    if status == BAD:
        terminal.note("firstbreak: no rule could look at this log.")
        if any(d.log.series for d in diagnoses):
            terminal.note("  The rules asked for need other metrics; --full says which.")
        elif any(d.log.unmapped for d in diagnoses):
            terminal.note("  Give its keys a meaning with --map KEY=METRIC; --full lists the keys not understood.")
        else:
            terminal.note("  It holds no numbers that could be read; --full says what was wrong with the files.")
    return status


def _diagnose(args: argparse.Namespace) -> list[Diagnosis]:
    from ..api import diagnose_runs
    from .reading import newest_run, reader_for

    path = args.path if args.path is not None else newest_run(Path("."))
    settings = _settings(args, Path(path))
    with reader_for(args, settings) as read:
        return diagnose_runs(path, settings, last=args.last, until=args.until, baseline=args.baseline, read=read)


def _settings(args: argparse.Namespace, path: Path) -> Settings:
    """Return the settings that apply at `path`, with what the arguments say on top."""
    from dataclasses import replace

    from ..config import Ignore, find_settings
    from ..registry import find_rule

    found = find_settings(path)
    ignored = [Ignore(find_rule(n).name, "--ignore on the command line") for n in _listed(args.ignore)]
    return replace(
        found,
        select=tuple(find_rule(n).name for n in _listed(args.select)) or found.select,
        ignore=(*found.ignore, *ignored),
        names={**found.names, **_names(args.map)},
    )


def _listed(values: list[str]) -> list[str]:
    return [name for value in values for name in value.split(",") if name]


def _names(pairs: list[str]) -> dict[str, str]:
    """Read `key=metric` pairs; the metric must exist."""
    from ..errors import InputError
    from ..vocabulary import metric

    names: dict[str, str] = {}
    for pair in pairs:
        key, equals, canonical = pair.rpartition("=")
        if not equals or not key:
            raise InputError(f"--map {pair!r} is not KEY=METRIC.", "For example: --map train/my_kl=policy/kl_old")
        names[key] = metric(canonical.partition("@")[0]).name + canonical[len(canonical.partition("@")[0]) :]
    return names


def _report(args: argparse.Namespace, diagnoses: list[Diagnosis]) -> str:
    if args.format == "json":
        from ..report.json import document, dumps

        return dumps(document(diagnoses))
    if args.format == "html":
        from ..report.html import page

        return page(diagnoses)
    if args.format == "text":
        from ..report.page import PLAIN
        from ..report.text import render

        return render(diagnoses, full=args.full, face=PLAIN if args.output else terminal.face())
    from importlib import import_module

    return import_module(f"firstbreak.report.{args.format}").render(diagnoses)


def _bundle(diagnoses: list[Diagnosis], path: Path) -> None:
    from ..report.bundle import write

    try:
        contents = write(diagnoses, path)
    except OSError as error:
        raise terminal.cannot_write(path, error) from error
    terminal.note(f"Wrote {path}; look through it before you share it:")
    for name, size in contents:
        terminal.note(f"  {name} ({size:,} bytes)")
