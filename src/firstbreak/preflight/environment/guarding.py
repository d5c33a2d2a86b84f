"""Loading an environment while watching what it does to the process: done twice, since imports change things once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...isolation.journal import Journal
from . import global_state
from .loading import Source, source_of
from .running_statistics import held_still

STEPS = 3


def guarded_source(target: str | Callable[[], Any], journal: Journal | None = None) -> tuple[Source, dict[str, Any]]:
    """Return the source of `target` and the facts noted: `global_changes`, thing -> call that changed it,
    and `held_still`, the wrappers whose running statistics are the same in every environment made.

    The first run may change things through imports. They are put back, and only what a second run changes again
    counts.
    """
    before = global_state.snapshot()
    source = source_of(target, journal)
    _few_calls(source)
    changes: dict[str, str] = {}
    if global_state.changed(before, global_state.snapshot()):
        global_state.restore(before)
        changes = _few_calls(source)
        global_state.restore(before)
    still, held = held_still(source.make)
    return replace(source, make=still), {"global_changes": changes, "held_still": held}


def _few_calls(source: Source) -> dict[str, str]:
    """Make, reset, step and close an environment; what raises here is told by the recorder."""
    held: dict[str, Any] = {}

    def make() -> None:
        held["env"] = source.make()

    def reset() -> None:
        held["env"].reset(seed=0)

    def step() -> None:
        held["env"].step(held["env"].action_space.sample())

    def close() -> None:
        held["env"].close()

    calls: list[tuple[str, Callable[[], Any]]] = [("make", make)]
    quiet = [("reset", reset), *([("step", step)] * STEPS), ("close", close)]
    calls += [(name, _quietly(call)) for name, call in quiet]
    return global_state.changes_of(calls)


def _quietly(call: Callable[[], Any]) -> Callable[[], Any]:
    def tried() -> None:
        with contextlib.suppress(Exception):
            call()

    return tried
