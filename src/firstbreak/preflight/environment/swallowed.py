"""Exceptions that are raised and caught inside step, found by tracing the environment's own files."""

from __future__ import annotations

import sys
import sysconfig
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

from .recorder import copy_of
from .recording import close_quietly
from .remembered import remembered
from .starts import player_of
from .world import World

STEPS = 400
ORDINARY = (StopIteration, GeneratorExit, KeyError, AttributeError, StopAsyncIteration)
"""Exceptions that Python code uses for control flow all the time."""
FOREIGN = tuple({sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["purelib"], "<frozen", "<string"})
INSTALLED = ("/site-packages/", "/dist-packages/", "firstbreak/preflight")
"""Folders of packages wherever they lie: one environment of Python may stand on another, or on a user's own folder."""


@dataclass(frozen=True)
class Swallowed:
    """What was caught inside step."""

    what: str
    """The commonest exception and the function it came from."""
    steps_with: int
    frozen_steps: int
    """Of those, steps that returned the observation of the step before, or zeros where it held none."""
    steps: int


def swallowed_of(world: World) -> Swallowed:
    """Return what `world` catches inside step, traced once."""
    return remembered(world, "swallowed", lambda: _trace(world))


def _trace(world: World) -> Swallowed:
    cost = 5 * float(world.facts.get("seconds_per_step", 1e-4))  # tracing is slow
    left = min(STEPS, max(20, int(0.8 / cost)))
    steps = with_one = frozen = 0
    seen: Counter[str] = Counter()
    flatten = player_of(world).flatten
    env = world.make()
    try:
        for episode in world.episodes:
            told = env.reset(seed=episode.seed)
            row = flatten(told[0])
            for action in episode.actions:
                with _Watch() as watch:
                    told = env.step(copy_of(action))
                after = flatten(told[0])
                steps += 1
                if watch.caught:
                    with_one += 1
                    frozen += bool(np.array_equal(row, after) or (row.any() and not after.any()))
                    seen.update(watch.caught)
                row = after
                if told[2] or told[3] or steps >= left:
                    break
            if steps >= left:
                break
    finally:
        close_quietly(env)
    return Swallowed(seen.most_common(1)[0][0] if seen else "", with_one, frozen, steps)


def foreign(file: str) -> bool:
    """Whether `file` belongs to Python, to an installed package or to this tool."""
    plain = file.replace("\\", "/")
    return file.startswith(FOREIGN) or any(part in plain for part in INSTALLED)


class _Watch:
    """Traces exceptions in frames of files that belong neither to Python nor to installed packages."""

    def __init__(self) -> None:
        self.caught: list[str] = []

    def __enter__(self) -> _Watch:
        self._before = sys.gettrace()
        if self._before is None:  # a debugger or a coverage tool goes first
            sys.settrace(self._call)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(self._before)

    def _call(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        del event, argument
        if foreign(frame.f_code.co_filename):
            return None
        frame.f_trace_lines = False
        return self._event

    def _event(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        if event == "exception" and not issubclass(argument[0], ORDINARY):
            self.caught.append(f"{argument[0].__name__} in {frame.f_code.co_name}")
        return self._event
