"""The review queue: the chosen samples in full, near duplicates merged, in an order that gives nothing away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..across.near import clusters
from ..across.shingles import all_shingles
from ..sample import Sample
from ..table import Table
from .choosing import choose
from .record import Labels, fingerprint

SAME_ANSWER = 3
"""How often nearly the same response is asked about, over all prompts. Engineering default."""
SPARE = 2
"""How many times more samples are chosen than asked for, since near duplicates fall away. Engineering default."""


@dataclass(frozen=True)
class Item:
    """One sample to label."""

    content: str
    sample: Sample
    pair: int
    why: str
    also: tuple[str, ...] = ()
    """Near duplicates of the same prompt, which get the same label."""
    drawn: bool = False
    """Whether it came up at random, so that it stands for the others."""


def queue_of(
    table: Table, samples: Iterable[Sample], count: int = 50, seed: int = 0, *, at_random: bool = False
) -> list[Item]:
    """Return at most `count` items, the most telling first.

    Args:
        table: what was collected from the samples.
        samples: the same stream once more, in the same order.
    """
    chosen = choose(table, SPARE * count, seed, at_random=at_random)
    wanted = {c.index for c in chosen}
    last = max(wanted, default=-1)
    kept: dict[int, Sample] = {}
    for index, sample in enumerate(samples):
        if index in wanted:
            kept[index] = sample
        if index >= last:
            break
    found = [(c, kept[c.index]) for c in chosen if c.index in kept]
    items = [Item(fingerprint(one), one, c.pair, c.why, drawn=c.drawn) for c, one in found]
    return blind(merged(items))[:count]


def merged(items: Sequence[Item]) -> list[Item]:
    """Return the items with near duplicates of one prompt merged, and nearly equal answers asked about a few times."""
    alike: list[int] = clusters(all_shingles([i.sample for i in items])).tolist() if items else []
    first: dict[tuple[str, int], int] = {}
    times: dict[int, int] = {}
    seen: set[str] = set()
    found: list[Item] = []
    for item, label in zip(items, alike, strict=True):
        key = (item.sample.group or item.sample.prompt, label)
        if item.content in seen:
            continue
        seen.add(item.content)
        if key in first and not item.sample.turns:
            place = first[key]
            found[place] = replace(found[place], also=(*found[place].also, item.content))
        elif times.get(label, 0) < SAME_ANSWER or item.sample.turns:
            first[key] = len(found)
            times[label] = times.get(label, 0) + 1
            found.append(item)
    return found


def blind(items: Sequence[Item]) -> list[Item]:
    """Return the items with the members of each pair in the order of their fingerprints: no side is always better."""
    pairs: dict[int, list[Item]] = {}
    for item in items:
        pairs.setdefault(item.pair, []).append(item)
    return [i for mine in pairs.values() for i in sorted(mine, key=lambda i: i.content)]


def open_items(items: Iterable[Item], labels: Labels, labeller: str) -> list[Item]:
    """Return the items that this labeller has not labelled yet."""
    return [i for i in items if labeller not in labels.scores.get(i.content, {})]
