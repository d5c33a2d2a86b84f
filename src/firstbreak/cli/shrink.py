"""`firstbreak shrink`: the few settings of a failing configuration that its symptom needs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import terminal
from .arguments import positive
from .exit_status import OK, UNDECIDED
from .inspecting import add_limits

if TYPE_CHECKING:
    from ..experiments.shrink import Reproduction
    from ..experiments.shrink.numbers import Size
    from ..experiments.shrink.tries import Shows
    from ..isolation import Limits

EPILOG = """\
TARGET is a function of yours, module:shows or file.py:shows, called shows(config, seed) in a child process: it trains
for a moment and returns whether the symptom showed. A run that ends in another way is no answer; with --crash NAME it
is the crash that is looked for.

BAD and GOOD are configurations in JSON, TOML or YAML: the one that shows the symptom, and one that does not (the
defaults, or the last that worked). Every trial is repeated over seeds until a sequential test decides.

examples:
  firstbreak shrink debug.py:kl_explodes --bad run/config.json --good defaults.json
  firstbreak shrink debug.py:kl_explodes --bad bad.yaml --good good.yaml --size steps --size num_envs --journal s.jsonl
  firstbreak shrink debug.py:train --bad bad.json --good good.json --crash FloatingPointError --sure

exit status: 0 a minimal reproduction; 2 bad input, or the failing configuration does not show the symptom; 3 the budget
was spent before the search ended"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.epilog = EPILOG
    parser.add_argument("target", metavar="TARGET", help="module:shows, which says whether a run shows the symptom")
    parser.add_argument("--bad", required=True, metavar="FILE", help="the configuration that shows it")
    parser.add_argument("--good", required=True, metavar="FILE", help="a configuration that does not")
    text = "a setting that only says how long or large the run is; made as small as can be"
    parser.add_argument("--size", action="append", default=[], metavar="KEY", help=text)
    parser.add_argument("--sure", action="store_true", help="nothing is left to chance: one run decides")
    text = "the symptom is this exception, or hung, died, too_slow, out_of_memory"
    parser.add_argument("--crash", default="", metavar="NAME", help=text)
    parser.add_argument("--journal", metavar="FILE", help="write every run down there, and go on from it")
    parser.add_argument("--runs", type=int, default=200, metavar="N", help="runs at most (default: %(default)s)")
    parser.add_argument(
        "--budget", type=positive, default=3600.0, metavar="S", help="seconds in all (default: %(default)g)"
    )
    parser.add_argument("--first-seed", type=int, default=0, metavar="N", help="the first seed (default: 0)")
    parser.add_argument("--ray", nargs="?", const="auto", metavar="ADDRESS", help="run on a Ray cluster instead")
    add_limits(parser, 600.0, silence_s=120.0)
    out = parser.add_argument_group("output")
    out.add_argument("--format", choices=("text", "json"), default="text", help="face of the report (default: text)")
    out.add_argument("--output", metavar="FILE", help="write the minimal configuration there, as JSON")


def run(args: argparse.Namespace) -> int:
    """Shrink and print; return the exit status."""
    from ..experiments.shrink import Budget, shrink
    from ..isolation import Limits
    from ..report.json import dumps

    limits = Limits(args.time_limit, args.silence_limit, int(args.memory_limit * (1 << 30)))
    with _telling_what_was_kept(args.journal) as tell:
        found = shrink(
            read_config(Path(args.bad)),
            read_config(Path(args.good)),
            _symptom(args, limits),
            sizes=_sizes(args.size),
            chance=not args.sure,
            budget=Budget(args.runs, args.budget),
            journal=None if args.journal is None else Path(args.journal),
            first_seed=args.first_seed,
            tell=tell,
        )
    if args.output:
        terminal.note(terminal.save(dumps(found.config) + "\n", Path(args.output)))
    terminal.say(_report(args, found))
    return OK if found.minimal else UNDECIDED


def _symptom(args: argparse.Namespace, limits: Limits) -> Shows:
    from ..experiments.shrink import ClusterSymptom, child_symptom

    if not args.ray:
        return child_symptom(args.target, limits, crash=args.crash)
    from ..experiments.running.on_ray import OnRay

    return ClusterSymptom(OnRay(address=args.ray), args.target, limits, crash=args.crash)


@contextmanager
def _telling_what_was_kept(journal: str | None) -> Generator[Callable[[str], None], None, None]:
    """Yield what hears of each run; say after Ctrl-C what was kept of them."""
    made: list[str] = []

    def tell(line: str) -> None:
        made.append(line)
        if sys.stderr.isatty():
            terminal.note(line)

    try:
        yield tell
    except KeyboardInterrupt:
        from ..report.words import count

        kept = f"They are kept in {journal}: the same command goes on from there." if journal else ""
        terminal.note(f"Stopped after {count(len(made), 'run')}. {kept or 'Nothing was kept: --journal FILE would.'}")
        raise


def _sizes(keys: list[str]) -> tuple[Size, ...]:
    from ..experiments.shrink.numbers import Size

    return tuple(Size(key) for key in keys)


def _report(args: argparse.Namespace, found: Reproduction) -> str:
    from ..experiments.shrink.saying import lines, plain
    from ..report.clean import plain as visible
    from ..report.json import dumps
    from ..report.page import Page

    if args.format == "json":
        return dumps({"schema_version": 1, "kind": "shrink", "target": args.target, **plain(found)})
    page = Page(terminal.face())
    page.line(
        f"{visible(args.target)}: {len(found.needed)} of {len(found.needed) + len(found.given_up)} differences needed"
    )
    for label, text in lines(found):
        page.entry(label, visible(text))
    return page.text()


FORMS = {".toml": "TOML", ".yaml": "YAML", ".yml": "YAML"}
"""What is read otherwise than as JSON, by the ending of its name."""


def read_config(path: Path) -> dict[str, Any]:
    """Read a configuration in JSON, TOML or YAML, by the ending of its name.

    Raises:
        InputError: it is none of these, or no table.
        UnreadableError: the file cannot be read.
    """
    from ..errors import InputError, UnreadableError

    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{path} cannot be read: {error}.", "Give a JSON, TOML or YAML file.") from error
    try:
        made = _parsed(text, path.suffix.lower())
    except ValueError as error:
        form = FORMS.get(path.suffix.lower(), "JSON")
        hint = "Give a configuration in a file that ends in .json, .toml or .yaml."
        raise InputError(f"{path} cannot be read as {form}: {error}"[:300], hint) from error
    if not isinstance(made, dict):
        raise InputError(f"{path} holds no table of settings.", "It holds names and values at its top.")
    return made  # pyright: ignore[reportUnknownVariableType]


def _parsed(text: str, suffix: str) -> Any:
    import json
    import tomllib

    if suffix == ".toml":
        return tomllib.loads(text)
    if suffix not in (".yaml", ".yml"):
        return json.loads(text)
    try:
        import yaml
    except ImportError as error:
        from ..errors import missing_extra

        raise missing_extra("pyyaml", "yaml", "Reading a YAML configuration") from error
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
