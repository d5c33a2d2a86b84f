"""What the environment does to the machine while it plays: output, memory, processes; and after an episode's end."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .recorder import copy_of
from .recording import close_quietly
from .remembered import remembered
from .world import Episode, World

PRINT_STEPS = 200
PARTS = 8
"""Stretches over which growth is measured; a leak shows in nearly all, a cache in one."""
PART_RESETS = 3
PART_STEPS = 250
BUDGET_S = 1.5


@dataclass(frozen=True)
class Printed:
    """Bytes that playing wrote to stdout and stderr."""

    bytes: int
    steps: int
    resets: int


@dataclass(frozen=True)
class Growth:
    """Median growth of private memory over one stretch of resets and steps, and the share of stretches that grew."""

    median_bytes: float
    grown_frac: float
    resets: int
    """In one stretch."""
    steps: int
    """In one stretch."""


def printed_of(world: World) -> Printed:
    """Return what playing prints, measured once."""
    return remembered(world, "printed", lambda: _printed(world))


def growth_of(world: World) -> Growth | None:
    """Return how memory grows, measured once; None where it cannot be read."""
    return remembered(world, "growth", lambda: _growth(world))


def children() -> set[int]:
    """Return the living child processes of this one; empty where /proc is missing."""
    found: set[int] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            continue
        if len(fields) > 1 and fields[1] == str(os.getpid()) and fields[0] not in ("Z", "X"):
            found.add(int(folder.name))
    return found


def processes_left(world: World) -> tuple[set[int], int]:
    """Return the processes left after making, resetting and closing, and the number of resets."""
    before = children()
    env = world.make()
    resets = 3
    episode = world.episodes[0] if world.episodes else None
    for i in range(resets):
        env.reset(seed=world.seed + i)
        if episode is not None and episode.length:
            env.step(copy_of(episode.actions[0]))
    close_quietly(env)
    time.sleep(0.05)  # a process that was told to end may need a moment
    return children() - before, resets


def _play(env: Any, episodes: list[Episode], resets: int, steps: int) -> tuple[int, int]:
    """Play recorded actions until both numbers are reached; return the resets and steps made."""
    made = [0, 0]
    while made[0] < resets or made[1] < steps:
        episode = episodes[made[0] % len(episodes)]
        env.reset(seed=episode.seed)
        made[0] += 1
        for action in episode.actions[:steps]:
            told = env.step(copy_of(action))
            made[1] += 1
            if told[2] or told[3] or (made[1] >= steps and made[0] >= resets):
                break
    return made[0], made[1]


def _printed(world: World) -> Printed:
    cost = float(world.facts.get("seconds_per_step", 1e-4))
    steps = min(PRINT_STEPS, max(20, int(0.3 / cost)))
    env = world.make()
    with tempfile.TemporaryFile() as file:
        kept = [os.dup(1), os.dup(2)]
        streams = sys.stdout, sys.stderr
        text = os.fdopen(os.dup(file.fileno()), "w", buffering=1)
        try:
            _flush(*streams)
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            sys.stdout = sys.stderr = text
            resets, done = _play(env, list(world.episodes), 1, steps)
            close_quietly(env)
        finally:
            text.close()
            sys.stdout, sys.stderr = streams
            for number, copy in zip((1, 2), kept, strict=True):
                os.dup2(copy, number)
                os.close(copy)
        return Printed(os.fstat(file.fileno()).st_size, done, resets)


def _flush(*streams: Any) -> None:
    for stream in streams:
        try:
            stream.flush()
        except (OSError, ValueError):
            continue


def _growth(world: World) -> Growth | None:
    if private_bytes() == 0 or not world.episodes:
        return None
    cost = float(world.facts.get("seconds_per_step", 1e-4))
    steps = min(PART_STEPS, max(10, int(BUDGET_S / PARTS / cost)))
    env = world.make()
    try:
        resets, done = _play(env, list(world.episodes), 1, min(steps, 20))
        sizes = [private_bytes()]
        for _ in range(PARTS):
            resets, done = _play(env, list(world.episodes), PART_RESETS, steps)
            sizes.append(private_bytes())
    finally:
        close_quietly(env)
    grown = np.diff(np.array(sizes, float))
    return Growth(float(np.median(grown)), float((grown > 0).mean()), resets, done)


def private_bytes() -> int:
    """Return the private writable memory of this process, touched or not; 0 where /proc is missing."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0
