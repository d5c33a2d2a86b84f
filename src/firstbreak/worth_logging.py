"""What is worth logging: few metrics and settings that let rules of as many links as possible look.

A rule that waits for three metrics does not look with one of them, and most metrics that rules wait for are in no
trainer's log whatever it is told to log: only what is enough by itself, and what trainers do log, is worth asking for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from .diagnosis import Coverage, Skipped
from .finding import Link
from .vocabulary import framework, framework_names

MOST = 3
"""Metrics and settings that are asked for: nobody adds ten. Engineering default."""
SETTING = "config "
"""How the engine begins the name of a setting."""


@dataclass(frozen=True)
class Worth:
    """Metrics and settings to log or give, most to the point first, and how many rules look with all of them."""

    names: tuple[str, ...]
    rules: int
    links: tuple[Link, ...]
    """That those rules look at."""

    @property
    def spoken(self) -> tuple[str, ...]:
        """The names as they are asked for: a setting is given, without another run."""
        return tuple(map(spoken, self.names))


@cache
def logged_by_trainers() -> frozenset[str]:
    """Return the metrics that some framework logs by itself; all others only firstbreak's own instruments measure."""
    known = [framework(name) for name in framework_names()]
    return frozenset(key.metric for one in known if not one.canonical for key in one.keys)


def measured_by(metrics: Collection[str], item: str) -> bool:
    """Whether an item (`a/b or c/d`, of which one is enough) can be had where `metrics` can; a setting always can."""
    return "/" not in item or any(name in metrics for name in item.split(" or "))


def worth_logging(coverage: Coverage, could: Callable[[str], bool] = lambda _: True, most: int = MOST) -> Worth:
    """Return what to log or give next.

    One step after another the names are taken that, for each of them, let rules of most links look that none looks at
    with what was taken so far; of equals those that let most rules look.

    Args:
        coverage: What was looked at.
        could: Whether a run of this kind could log a metric at all.
        most: Names that are asked for at most.
    """
    asked = [s for s in coverage.skipped if s.applies and s.link and s.unlock_with]
    waiting = [s for s in asked if all(to_be_had(item) for item in s.unlock_with) and all(map(could, lacking(s, ())))]
    chosen: list[str] = []
    while best := next_names(waiting, chosen, most - len(chosen)):
        chosen += best
    looking = freed(waiting, chosen)
    return Worth(tuple(chosen), len(looking), tuple(dict.fromkeys(s.link for s in looking if s.link)))


def to_be_had(item: str) -> bool:
    """Whether a user can log or give an item: neither a longer run, nor an event, nor what only firstbreak measures."""
    return item.startswith(SETTING) or ("/" in item and measured_by(logged_by_trainers(), item))


def next_names(waiting: Sequence[Skipped], chosen: Sequence[str], room: int) -> list[str]:
    """Return the names of one step, at most `room`; none where nothing lets a rule look."""
    before = freed(waiting, chosen)
    best, gain = list[str](), (0.0, 0.0)
    for one in waiting:
        new = lacking(one, chosen)
        if not 0 < len(new) <= room:
            continue
        after = freed(waiting, [*chosen, *new])
        links = len({s.link for s in after}) - len({s.link for s in before})
        value = (links / len(new), (len(after) - len(before)) / len(new))
        if value > gain:
            best, gain = new, value
    return best


def freed(waiting: Iterable[Skipped], chosen: Sequence[str]) -> list[Skipped]:
    """Return the rules that look with what is chosen."""
    return [one for one in waiting if not lacking(one, chosen)] if chosen else []


def lacking(one: Skipped, chosen: Collection[str]) -> list[str]:
    """Return the names that a rule still waits for, of those of which one is enough the first that can be had."""
    items = [alternatives(item) for item in one.unlock_with]
    return list(dict.fromkeys(names[0] for names in items if not set(names) & set(chosen)))


@cache
def alternatives(item: str) -> tuple[str, ...]:
    """Return the names of an item of which one is enough, those that can be had."""
    kind = SETTING if item.startswith(SETTING) else ""
    names = [kind + name for name in item.removeprefix(kind).split(" or ")]
    return tuple(name for name in names if kind or to_be_had(name))


def spoken(name: str) -> str:
    """Return how a metric or setting is asked for."""
    setting = name.removeprefix(SETTING)
    return name if setting == name else "--algorithm" if setting == "algorithm" else f"--given {setting}="
