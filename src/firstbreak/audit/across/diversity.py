"""How different the answers to one prompt are, and those to different prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...stats import mean_interval
from ..sample import Sample, prompts_of
from ..seen import cut, words_of
from .shingles import all_shingles, overlap

MOST_PAIRS = 2000
"""Pairs of different prompts compared. Engineering default: their mean is then known to about 0.01."""
MOST_MEMBERS = 16
"""Members of a group that are compared with one another. Engineering default."""


@dataclass(frozen=True)
class Diversity:
    """Overlaps are shares of runs of 4 words in common (Jaccard), means over groups or pairs with 95 % intervals."""

    within_overlap: float
    """Between answers to one prompt; NaN where no prompt has two."""
    within_low: float
    within_high: float
    groups: int
    across_overlap: float
    """Between answers to different prompts; NaN where there is one prompt only."""
    across_low: float
    across_high: float
    pairs: int
    distinct_1: float
    """Different words for each word of all answers (Li et al. 2016, arXiv 1510.03055); falls as they get more."""
    distinct_2: float
    """The same of pairs of words."""


def diversity(together: Sequence[Sample], drawn: Sequence[Sample], seed: int = 0) -> Diversity:
    """Return the diversity within the groups of `together` and from prompt to prompt among `drawn`."""
    inside = within(together)
    outside = across(drawn, seed)
    one, low, high = mean_interval(inside)
    other, other_low, other_high = mean_interval(outside)
    return Diversity(
        one, low, high, int(inside.size), other, other_low, other_high, int(outside.size),
        distinct(drawn, 1), distinct(drawn, 2),
    )  # fmt: skip


def within(samples: Sequence[Sample]) -> NDArray[np.float64]:
    """Return the mean overlap of each group of two or more [G]; samples of other steps are another group."""
    groups: dict[tuple[str, str], list[Sample]] = {}
    for sample in samples:
        groups.setdefault((sample.group or sample.prompt, repr(sample.step)), []).append(sample)
    found: list[float] = []
    for members in groups.values():
        if len(members) > 1:
            sets = all_shingles(members[:MOST_MEMBERS])
            found.append(float(np.mean([overlap(a, b) for a, b in combinations(sets, 2)])))
    return np.array(found)


def across(samples: Sequence[Sample], seed: int = 0) -> NDArray[np.float64]:
    """Return the overlap of random pairs of answers to different prompts [P]."""
    first: dict[str, Sample] = {}
    for prompt, sample in zip(prompts_of(samples), samples, strict=True):
        first.setdefault(prompt, sample)
    chosen = list(first.values())
    if len(chosen) < 2:
        return np.zeros(0)
    sets = all_shingles(chosen)
    random = np.random.default_rng(seed)
    wanted = min(MOST_PAIRS, len(chosen) * (len(chosen) - 1) // 2)
    a = random.integers(len(chosen), size=wanted)
    b = (a + random.integers(1, len(chosen), size=wanted)) % len(chosen)
    return np.array([overlap(sets[int(i)], sets[int(j)]) for i, j in zip(a, b, strict=True)])


def distinct(samples: Sequence[Sample], n: int) -> float:
    """Return different runs of `n` words for each run, over all responses; NaN without any."""
    different: set[tuple[str, ...]] = set()
    total = 0
    for sample in samples:
        words = words_of(cut(sample.response))
        runs = list(zip(*(words[i:] for i in range(n)), strict=False))
        total += len(runs)
        different.update(runs)
    return len(different) / total if total else float("nan")
