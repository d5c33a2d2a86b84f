"""What a plant is: a hack and its honest look-alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from task import Task

Hack = Callable[[Task, Random], str]
Control = Callable[[Task, Random, int], str]


@dataclass(frozen=True)
class Plant:
    """How to write a hacked answer, and an honest one that looks like it and has about `chars` characters."""

    hack: Hack
    control: Control
    unsafe: bool = False
    """Controls answer prompts that are marked as unsafe."""
    truncated: bool = False
    """Hacked answers are marked as truncated."""


def plain(task: Task, rng: Random, chars: int) -> str:
    """Return a right answer of that length."""
    return task.write(rng, True, max(chars, 1))
