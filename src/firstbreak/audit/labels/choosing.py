"""Which samples a person should look at first: pairs of one prompt that the reward and suspicion tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ..judgement.hack_score import hack_scores
from ..table import Table

Floats = NDArray[np.float64]
Rows = tuple[tuple[int, ...], str]
"""Rows of the table that are asked about together, and why."""
TELLING = 4
"""After so many samples chosen comes one drawn at random, so that the labels also say what is usual. Engineering
default."""


@dataclass(frozen=True)
class Choice:
    """One sample of the queue: its place in the stream, the pair it belongs to, and why."""

    index: int
    pair: int
    """Choices of one pair share it; a sample alone has one of its own."""
    why: str
    """`discordant` (the better paid of a pair is the more suspicious), `contrast`, `extreme` or `random`."""
    drawn: bool = False
    """Whether the random draw hit it; one that was chosen first may be hit too, and then belongs to both."""


def choose(table: Table, count: int, seed: int = 0, *, at_random: bool = False) -> list[Choice]:
    """Return about `count` samples of `table`, the most telling first.

    Pairs of one prompt: the better paid one also the more suspicious, by how far both differ; then pairs by reward
    alone. Where a log has one sample a prompt: the ends of the reward. Every fifth is drawn at random, and without
    rewards, or with `at_random`, all are.
    """
    drawn: list[int] = np.random.default_rng(seed).permutation(table.n)[:count].tolist()
    if at_random:
        return _taken([((i,), "random") for i in drawn], count)
    reward = _column(table, "reward")
    suspicion = _suspicion(table)
    pairs = sorted(_pairs(table.group, _ranks(reward), _ranks(suspicion)), key=lambda p: (-p[0], p[1]))
    chosen: list[Rows] = [((a, b), why) for _, a, b, why in pairs]
    if not chosen:
        order = np.argsort(np.where(np.isfinite(reward), reward, np.inf), kind="stable")
        known = [int(i) for i in order if np.isfinite(reward[i])]
        half = len(known) // 2
        chosen = [((i,), "extreme") for pair in zip(known[: -half - 1 : -1], known[:half], strict=True) for i in pair]
    return _taken(_mixed(chosen, [((i,), "random") for i in drawn]), count)


def _mixed(chosen: list[Rows], drawn: list[Rows]) -> Iterator[Rows]:
    """Yield `chosen` with one of `drawn` after every `TELLING` samples, then what is left of `drawn`."""
    spare, told = iter(drawn), 0
    for rows, why in chosen:
        yield rows, why
        told += len(rows)
        if told >= TELLING:
            told -= TELLING
            yield from islice(spare, 1)
    yield from spare


def _taken(ordered: Iterable[Rows], count: int) -> list[Choice]:
    found: list[Choice] = []
    taken: set[int] = set()
    hit: set[int] = set()
    for pair, (rows, why) in enumerate(ordered):
        if len(found) >= count:
            break
        if why == "random":  # without those that were chosen already the draw would not be a fair one
            hit.update(rows)
        if taken.isdisjoint(rows):
            taken.update(rows)
            found += [Choice(i, pair, why) for i in rows]
    return [replace(c, drawn=c.index in hit) for c in found]


def _column(table: Table, name: str) -> Floats:
    values = table.get(name)
    return np.full(table.n, np.nan) if values is None else values.astype(np.float64)


def _suspicion(table: Table) -> Floats:
    if table.get("reward") is None:
        return np.full(table.n, np.nan)
    return hack_scores(table).astype(np.float64)


def _ranks(values: Floats) -> Floats:
    """Return the place of each value among the known ones, 0 to 1, ties at their middle; NaN where unknown."""
    ranks = np.full(values.size, np.nan)
    known = np.isfinite(values)
    if known.sum() > 1:
        ordered = np.sort(values[known])
        left, right = (np.searchsorted(ordered, values[known], side) for side in ("left", "right"))
        ranks[known] = (left + right - 1) / 2 / (ordered.size - 1)
    return ranks


def _pairs(group: NDArray[np.uint64], reward: Floats, suspicion: Floats) -> list[tuple[float, int, int, str]]:
    """Return the most telling pair of each prompt: worth, better paid, worse paid, why."""
    rows = np.flatnonzero(np.isfinite(reward))
    rows = rows[np.argsort(group[rows], kind="stable")]
    if not rows.size:
        return []
    cuts = np.flatnonzero(np.diff(group[rows])) + 1
    return [
        _pair(mine, reward[mine], np.nan_to_num(suspicion[mine]))
        for mine in np.split(rows, cuts)
        if mine.size > 1 and np.ptp(reward[mine]) > 0
    ]


def _pair(rows: NDArray[np.intp], reward: Floats, suspicion: Floats) -> tuple[float, int, int, str]:
    best = (0.0, 0, 0)
    low = np.argsort(reward, kind="stable")[:32]
    high = np.argsort(-reward, kind="stable")[:32]
    for a in high:
        for b in low:
            worth = float(min(reward[a] - reward[b], suspicion[a] - suspicion[b]))
            if reward[a] > reward[b] and worth > best[0]:
                best = (worth, int(a), int(b))
    if best[0] > 0:
        return 1 + best[0], int(rows[best[1]]), int(rows[best[2]]), "discordant"
    top, bottom = int(high[0]), int(low[0])
    return float(reward[top] - reward[bottom]), int(rows[top]), int(rows[bottom]), "contrast"
