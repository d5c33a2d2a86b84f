"""Reading for the command line: the newest run of a folder, and a reader that shows how far it has come."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import terminal
from .progress import ReadProgress

if TYPE_CHECKING:
    from ..config import Settings
    from ..errors import UnknownNameError
    from ..runlog import RunLog


def newest_run(folder: Path) -> Path:
    """Return the run below `folder` whose log was written last, and say which it is.

    Raises:
        InputError: there is none.
    """
    from ..readers.discover import discover

    runs = discover(folder)
    newest = max(runs, key=lambda run: max((f.stat().st_mtime for f, _ in run.files), default=0.0))
    if len(runs) > 1:
        terminal.note(f"Newest of {len(runs)} runs here: {newest.path} (name a path to choose another)")
    else:
        terminal.note(f"Found one run here: {newest.path}")
    return newest.path


@contextmanager
def reader_for(args: argparse.Namespace, settings: Settings) -> Generator[Callable[[str | Path], list[RunLog]]]:
    """Yield a function that loads the runs at a path as the arguments ask, with progress on a terminal."""
    import time
    from dataclasses import replace

    from ..loading import load_runs
    from ..readers.protocol import Options

    algorithm = _algorithm(args.algorithm)
    framework = _framework(args.framework)
    given = {**_given(args.lacking), **({"algorithm": algorithm} if algorithm else {})}
    with ReadProgress(wanted=not args.no_progress) as progress:
        options = Options(verify=args.verify, progress=progress)

        def read(path: str | Path) -> list[RunLog]:
            logs = load_runs(
                path,
                map=settings.names,
                config=given,
                now=time.time(),
                options=options,
                framework=framework,
            )
            return [replace(log, algorithm=algorithm) for log in logs] if algorithm else logs

        yield read


def _given(pairs: Sequence[str]) -> dict[str, Any]:
    """Read `key=value` pairs into canonical settings.

    Raises:
        InputError: a pair has no `=`; UnknownNameError: there is no such setting.
    """
    from ..errors import InputError, unknown_name
    from ..vocabulary import canonical_config, config_keys

    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not value:
            raise InputError(f"--given {pair!r} is not KEY=VALUE.", "For example: --given gamma=0.99")
        meant = canonical_config({key: value})
        if not meant:
            raise unknown_name("setting", key, config_keys())
        # What the name of a task implies gives way to what the log says, so it is not among what wins.
        found.update({"env_id": meant["env_id"]} if "env_id" in meant else meant)
    return found


def _framework(name: str | None) -> str:
    """Return the identifier of the framework given, "" when none is."""
    from ..vocabulary import framework_names

    if name is None:
        return ""
    wanted = name.strip().lower().replace("-", "_")
    if wanted not in framework_names():
        raise _unknown("framework", name, framework_names())
    return wanted


def _algorithm(name: str | None) -> str:
    """Return the canonical name of the algorithm given, "" when none is."""
    from ..vocabulary import algorithm_named, algorithms

    if name is None:
        return ""
    canonical = algorithm_named(name)
    if not canonical:
        raise _unknown("algorithm", name, algorithms())
    return canonical


def _unknown(what: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """Return the did-you-mean error; where nothing is near, it lists what there is."""
    from ..errors import UnknownNameError, unknown_name

    names = sorted(known)
    error = unknown_name(what, name, names)
    return UnknownNameError(error.message, error.hint or f"Known: {', '.join(names)}.")
