"""The first call from which an episode could no longer succeed, by what became of others that began alike.

Episodes of one prompt are laid into a tree of their calls and results. A call is *lost* when none of the episodes that
passed it succeeded while the beginning before it still led to successes. How sure that is, the hypergeometric law says:
the chance that all successes of that beginning lie among the other episodes.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from ..sample import Sample

ALPHA = 0.05
"""Chance of a false alarm over all beginnings that were looked at."""
LONGEST = 200
"""Calls of an episode that are compared. Engineering default."""
Mark = tuple[str, Hashable]
"""A call as the tree sees it: the tool's name, and what tells it apart (arguments and result)."""


@dataclass(frozen=True)
class Run:
    """One episode: its prompt, its calls, and whether it succeeded."""

    group: str
    marks: tuple[Mark, ...]
    good: bool
    row: int = 0


@dataclass(frozen=True)
class Branch:
    """A call after which no continuation succeeded."""

    group: str
    call: int
    """Which call of the episode it is, from 1."""
    tool: str
    episodes: int
    """Episodes that made it."""
    siblings: int
    """Episodes that shared everything before it and then did something else."""
    siblings_succeeded: int
    p: float
    """Chance that none of `episodes` succeeds if the call made no difference."""

    @property
    def high_frac(self) -> float:
        """Upper 95 % bound of the chance to succeed after this call (Clopper and Pearson 1934, no success seen)."""
        return 1 - 0.05 ** (1 / self.episodes)


@dataclass(frozen=True)
class Pooled:
    """The lost calls of one tool over all prompts, against what their siblings made of the same beginnings."""

    tool: str
    call: float
    """Median place of the call in its episode, from 1."""
    prompts: int
    episodes: int
    succeeded: int
    expected: float
    """Successes if the call made no difference."""
    z: float
    """(succeeded - expected) / standard deviation, prompts as strata (Mantel and Haenszel 1959)."""
    high_frac: float
    """Upper 95 % bound of the chance to succeed after this call."""


def run_of(sample: Sample, good: bool) -> Run | None:
    """Return a sample as the tree sees it; None where it holds no call."""
    calls = [c for turn in sample.turns for c in turn.calls][:LONGEST]
    if not calls:
        return None
    marks = tuple((c.name, (" ".join(c.arguments.split()), c.result)) for c in calls)
    return Run(sample.group or sample.prompt, marks, good, sample.row)


@dataclass
class _Node:
    runs: list[Run]

    @property
    def good(self) -> int:
        """Episodes that succeeded."""
        return sum(r.good for r in self.runs)


def _forks(runs: Iterable[Run]) -> list[tuple[int, _Node, Mark, _Node]]:
    """Return (call, beginning, mark, continuation) wherever a beginning that can succeed went several ways."""
    found: list[tuple[int, _Node, Mark, _Node]] = []
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.group, []).append(run)
    waiting = [(0, _Node(mine)) for mine in groups.values() if len(mine) > 1]
    while waiting:
        depth, node = waiting.pop()
        if node.good == 0 or len(node.runs) < 2:
            continue
        ways: dict[Mark, list[Run]] = {}
        for run in node.runs:
            if len(run.marks) > depth:
                ways.setdefault(run.marks[depth], []).append(run)
        for mark, mine in ways.items():
            child = _Node(mine)
            waiting.append((depth + 1, child))
            if len(mine) < len(node.runs):
                found.append((depth + 1, node, mark, child))
    return found


def none_of(episodes: int, others: int, good: int) -> float:
    """Return the chance that all `good` successes lie among `others`, all `episodes` + `others` dealt at random."""
    if good > others:
        return 0.0
    total = episodes + others
    return math.exp(_log_choose(others, good) - _log_choose(total, good))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def lost_calls(runs: Sequence[Run], alpha: float = ALPHA) -> list[Branch]:
    """Return the earliest calls of each prompt after which nobody succeeded although the beginning had successes.

    Only those that are surer than `alpha` over all that could have been (Tarone 1990); the surest first.
    """
    forks = _forks(runs)
    found = [
        Branch(
            child.runs[0].group, call, mark[0], len(child.runs), len(node.runs) - len(child.runs), node.good,
            none_of(len(child.runs), len(node.runs) - len(child.runs), node.good),
        )
        for call, node, mark, child in forks
        if child.good == 0
    ]  # fmt: skip
    limit = tarone([none_of(len(c.runs), len(n.runs) - len(c.runs), n.good) for _, n, _, c in forks], alpha)
    return sorted((b for b in found if b.p <= limit), key=lambda b: (b.p, b.group, b.call))


def tarone(least: Sequence[float], alpha: float = ALPHA) -> float:
    """Return the level of each test that keeps `alpha` over all, given the least p that each of them can reach.

    Tests that can never be sure enough do not count (Tarone 1990, Biometrics 46).
    """
    ordered = sorted(least)
    for tests in range(1, len(ordered) + 1):
        if tests == len(ordered) or ordered[tests] > alpha / tests:
            return alpha / tests
    return alpha


def pooled(runs: Sequence[Run]) -> list[Pooled]:
    """Return, for each tool, how the episodes that called it at a fork fared against those that did not.

    Prompts are strata, so that hard prompts do not speak against the tools they need. Worst first.
    """
    strata: dict[str, list[tuple[int, str, int, int, int, int]]] = {}
    for call, node, mark, child in _forks(runs):
        numbers = (call, node.runs[0].group, len(child.runs), child.good, len(node.runs), node.good)
        strata.setdefault(mark[0], []).append(numbers)
    found: list[Pooled] = []
    for tool, rows in strata.items():
        n, good = sum(r[2] for r in rows), sum(r[3] for r in rows)
        expected = sum(r[2] * r[5] / r[4] for r in rows)
        variance = sum(hypergeometric_variance(r[2], r[4], r[5]) for r in rows)
        z = (good - expected) / math.sqrt(variance) if variance > 0 else 0.0
        calls = sorted(r[0] for r in rows)
        high = 1 - 0.05 ** (1 / n) if good == 0 else 1.0
        found.append(Pooled(tool, calls[len(calls) // 2], len({r[1] for r in rows}), n, good, expected, z, high))
    return sorted(found, key=lambda p: p.z)


def hypergeometric_variance(drawn: int, total: int, good: int) -> float:
    """Return the variance of the successes among `drawn` of `total` episodes of which `good` succeeded."""
    if total < 2:
        return 0.0
    return drawn * (good / total) * (1 - good / total) * (total - drawn) / (total - 1)
