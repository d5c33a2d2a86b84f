"""`firstbreak watch`: tail the log of a trainer nobody changed, and say what breaks as it breaks."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from . import terminal
from .exit_status import FOUND, status_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..config import Settings
    from ..monitor.alerts import Alert
    from ..monitor.watching.events import Event
    from ..monitor.watching.sources import Source
    from ..monitor.watching.watcher import Watcher
    from ..report.watching import Screen

STOPPED = 4
"""Exit status when a run stopped without an end: stalled, a zombie, its process gone before the planned steps,
or its log lost."""
INTERRUPTED = 130
EPILOG = """\
PATH is a log file, the folder of a run, or a folder of runs, of which the newest is watched; without it, this folder.
What does not exist yet is waited for, with --wait S for so long at most.
It may be the address of a run on a W&B or MLflow server, which is asked every 30 s at most.
The trainer needs no change: the log is read, never written. What is told equals `firstbreak diagnose` at that moment.

A run is stalled when nothing was written for ten of its usual gaps and twice the longest of late, at least a minute
(ten minutes while the pace is not known); a zombie when its log is written but the step stands or nothing moves.

examples:
  firstbreak watch runs/ppo
  firstbreak watch runs/ppo --until-end --pid $! || notify-send "look at the run"
  firstbreak watch runs/ --format json --exit-on-finding | jq .watch.event

exit status: 0 healthy or nothing at --fail-on; 1 findings at --fail-on; 2 bad input; 3 undecided;
4 stopped without an end (stalled, zombie, process gone early, log lost); 130 after Ctrl-C, which prints a summary"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.epilog = EPILOG
    parser.add_argument("path", nargs="?", default=".", metavar="PATH", help="a log, a run, a folder of runs, a URL")
    out = parser.add_argument_group("output")
    out.add_argument("--format", choices=("text", "json"), default="text", help="json: one line an event")
    out.add_argument("--plain", action="store_true", help="lines only, no live panel")
    out.add_argument("--alert", action="append", default=[], metavar="WHERE", help="also tell: " + ", ".join(ALERTS))
    how = parser.add_argument_group("how to watch")
    how.add_argument("--all", action="store_true", help="watch every run of the folder, not only the newest")
    how.add_argument("--interval", type=float, default=2.0, metavar="S", help="seconds between looks (default: 2)")
    how.add_argument("--stalled-after", type=float, metavar="S", help="seconds of silence that count as stalled")
    how.add_argument("--pid", type=int, metavar="N", help="the trainer's process: its end is the run's")
    end = parser.add_argument_group("when to end")
    end.add_argument("--once", action="store_true", help="look once")
    end.add_argument("--wait", type=float, metavar="S", help="seconds to wait at most for a run to appear")
    end.add_argument("--until-end", action="store_true", help="end when the run has ended or stopped")
    end.add_argument("--exit-on-finding", action="store_true", help="end at the first finding at --fail-on")
    end.add_argument("--fail-on", choices=("error", "warning", "info"), default="error", help="exit 1 from here on")
    end.add_argument("--undecided-ok", action="store_true", help="exit 0 instead of 3 when undecided")
    rules = parser.add_argument_group("rules")
    rules.add_argument("--select", action="append", default=[], metavar="RULE", help="run only these rules")
    rules.add_argument("--ignore", action="append", default=[], metavar="RULE", help="let this rule count for nothing")
    rules.add_argument("--map", action="append", default=[], metavar="KEY=METRIC", help="KEY of the log is this metric")
    rules.add_argument("--algorithm", metavar="NAME", help="PPO, SAC, DQN, GRPO ... where the log does not say")
    rules.add_argument("--framework", metavar="NAME", help="whose names the log uses, where it does not say")
    rules.add_argument(
        "--given", action="append", default=[], dest="lacking", metavar="KEY=VALUE", help="a setting the log lacks"
    )


ALERTS = ("console", "file:PATH", "slack", "webhook:URL", "wandb", "trackio")
"""What `--alert` takes; Slack's address is read from the environment."""


def run(args: argparse.Namespace) -> int:
    """Watch until the end asked for; return the exit status."""
    return watch(args, time.sleep)


def watch(args: argparse.Namespace, sleep: Callable[[float], None]) -> int:
    """Watch as `args` say, resting with `sleep`."""
    from ..monitor.alerts import Post
    from ..monitor.watching.notices import notice_of

    _check(args)
    alerts = [alert_named(text) for text in args.alert]
    watcher = _watcher(args)
    screen = _screen(args)
    post = Post(alerts, fault=lambda text: terminal.note(f"firstbreak: {text}")) if alerts else None

    def tell(events: Sequence[Event]) -> None:
        for event in events:
            screen.tell(event)
            if post is not None and event.alert:
                post.send(notice_of(event))

    try:
        with screen:
            interrupted = _loop(args, watcher, screen, tell, sleep)
            status = INTERRUPTED if interrupted else _status(args, watcher)
            screen.close(watcher.ending(), status)
    finally:
        if post is not None:
            post.close()
    return status


def _loop(
    args: argparse.Namespace,
    watcher: Watcher,
    screen: Screen,
    tell: Callable[[Sequence[Event]], None],
    sleep: Callable[[float], None],
) -> bool:
    """Look and rest until the end; return whether Ctrl-C ended it."""
    begun = watcher.clock()
    try:
        screen.show(watcher)  # reading a large log takes a while
        while True:
            events = watcher.poll()
            left = _patience(args, watcher, begun)
            if left <= 0 and watcher.trouble is not None:
                raise watcher.trouble
            tell(events)
            if watcher.unsettled:
                tell(watcher.poll())
            screen.show(watcher)
            if args.once:
                return False
            if args.exit_on_finding and _status(args, watcher) == FOUND:
                return False
            if args.until_end and watcher.over:
                return False
            sleep(min(watcher.rest_s, left))
    except KeyboardInterrupt:
        return True


def _patience(args: argparse.Namespace, watcher: Watcher, begun: float) -> float:
    """Return for how many more seconds to wait for a run to appear."""
    if args.once:
        return 0.0
    return float("inf") if args.wait is None or watcher.tracks else args.wait - (watcher.clock() - begun)


def _status(args: argparse.Namespace, watcher: Watcher) -> int:
    """Return the status of what is known now: findings first, then a run that stopped, then the rest."""
    status = status_of(watcher.diagnoses, fail_on=args.fail_on, undecided_ok=args.undecided_ok)
    return STOPPED if watcher.stopped and status != FOUND else status


def _check(args: argparse.Namespace) -> None:
    from ..errors import InputError

    for name, value in (("--interval", args.interval), ("--stalled-after", args.stalled_after)):
        if value is not None and not 0 < value < float("inf"):
            raise InputError(f"{name} {value:g} is not a number of seconds above 0.", "For example: --interval 5")
    if args.wait is not None and not 0 <= args.wait < float("inf"):
        raise InputError(f"--wait {args.wait:g} is not a number of seconds.", "For example: --wait 600")
    if args.pid is not None and args.pid < 1:
        raise InputError(f"--pid {args.pid} is not the number of a process.", "In a shell, $! is that of the last job.")


def _watcher(args: argparse.Namespace) -> Watcher:
    from ..monitor.watching.watcher import Watcher, Wishes

    settings = _settings(args)
    wishes = Wishes(interval_s=args.interval, stalled_after_s=args.stalled_after, pid=args.pid)
    return Watcher(_source(args, settings), settings, wishes)


def _settings(args: argparse.Namespace) -> Settings:
    from .diagnose import _settings as found

    return found(args, Path(args.path))


def _source(args: argparse.Namespace, settings: Settings) -> Source:
    from ..monitor.watching.sources import LocalSource, RemoteSource
    from ..readers.remote import is_url
    from .reading import reader_for

    args.no_progress, args.verify = True, False
    with reader_for(args, settings) as load:
        if is_url(args.path):
            return RemoteSource(args.path, load)
        return LocalSource(Path(args.path), args.all, load)


def _screen(args: argparse.Namespace) -> Screen:
    import sys

    from ..report.watching import JsonScreen, LineScreen, LiveScreen

    if args.format == "json":
        return JsonScreen(terminal.say)
    if args.plain or args.once or not sys.stdout.isatty():
        return LineScreen(terminal.say, terminal.face(), named=args.all)
    return LiveScreen(terminal.face(), named=args.all)


def alert_named(text: str) -> Alert:
    """Return the alert that `--alert text` asks for.

    Raises:
        InputError: there is none of that name, or what it needs is not set.
    """
    from ..errors import InputError
    from ..monitor.alerts import Console, File, Slack, TrackioAlert, WandbAlert, Webhook

    name, colon, rest = text.partition(":")
    if name == "file" and rest:
        return File(rest)
    if name == "webhook" and rest:
        return Webhook(rest)
    plain = {"console": Console, "slack": Slack, "wandb": WandbAlert, "trackio": TrackioAlert}
    if name not in plain or colon:
        raise InputError(f"--alert {text!r} is no place to tell.", f"Give one of: {', '.join(ALERTS)}.")
    return plain[name]()
