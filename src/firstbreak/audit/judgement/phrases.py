"""Runs of words that answers to different prompts share, and whether those who use them are paid for it.

No list of phrases is needed: whatever the policy found out to please the scorer, it says again and again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..sample import Sample, prompts_of
from ..seen import cut, grams_of, hashes_of, words_of
from .groups import Floats, Index, mean_within

MOST_GRAMS = 1500
"""Runs of words kept of one answer, half from either end. Engineering default: bounds the memory to 100 MB."""
LEAST_PROMPTS = 6
"""Different prompts at which a phrase must occur. Engineering default."""
ROUNDS = 40
"""Shuffled tables: a phrase surer than in all of them is one of chance in 1 of 41 tables."""
COMMONEST = 0.5
"""A phrase of more than this share of the answers is how all of them are written."""


@dataclass(frozen=True)
class Phrases:
    """Phrases of the drawn samples: for each pair of a phrase and a sample that uses it, one entry."""

    sample: Index
    """Place of the sample [P]."""
    phrase: Index
    """Number of the phrase, from 0 [P]."""
    prompts: Index
    """Different prompts at which each phrase occurs [F]."""
    users: Index
    """Samples that use each phrase [F]."""
    gain: Floats
    """Mean of what users are paid beyond their rivals at the same prompt, in spreads [F]; NaN where unknown."""
    z: Floats
    """The same in standard errors [F]."""
    grams: Index
    """Runs of words of each sample that were compared [N]."""
    chance: float
    """The highest `z` of any phrase in `ROUNDS` tables whose rewards were shuffled within prompts."""


_last: list[tuple[tuple[Sample, ...], Phrases]] = []
"""The answer last given, with its question: several checks ask for the same samples."""


def phrases_of(samples: tuple[Sample, ...]) -> Phrases:
    """Return the phrases that `samples` share between prompts."""
    if not _last or _last[0][0] is not samples:
        _last[:] = [(samples, _find(samples))]
    return _last[0][1]


def _find(samples: tuple[Sample, ...]) -> Phrases:
    group = numbered([s.group or s.prompt for s in samples])
    who, gram, sizes = _pairs(samples)
    kinds, phrase = np.unique(gram, return_inverse=True)
    phrase = phrase.astype(np.int64)
    users = np.bincount(phrase, minlength=kinds.size)
    prompt = numbered(prompts_of(samples))
    at = np.unique(phrase * (int(prompt.max(initial=0)) + 1) + prompt[who])
    prompts = np.bincount(at // (int(prompt.max(initial=0)) + 1), minlength=kinds.size)
    kept = (prompts >= LEAST_PROMPTS) & (users <= COMMONEST * len(samples))
    number = np.cumsum(kept) - 1
    pairs = kept[phrase]
    who, phrase, users, prompts = who[pairs], number[phrase[pairs]], users[kept], prompts[kept]
    inner = _above_rivals(np.array([s.reward for s in samples], np.float64), group)
    gain, z = _lift(inner, who, phrase, users.size)
    chance = _by_chance(inner, group, who, phrase, users.size)
    return Phrases(who, phrase, prompts.astype(np.int64), users.astype(np.int64), gain, z, sizes, chance)


def _pairs(samples: Sequence[Sample]) -> tuple[Index, NDArray[np.int64], Index]:
    """Return (sample, run of words) without repeats, and the runs of each sample."""
    found: list[NDArray[np.int64]] = []
    for sample in samples:
        grams = np.unique(_ends(grams_of(hashes_of(words_of(cut(sample.response).lower())))))
        found.append(grams)
    sizes = np.array([g.size for g in found], np.int64)
    whole = np.concatenate(found) if found else np.zeros(0, np.int64)
    return np.repeat(np.arange(len(found)), sizes), whole, sizes


def _ends(grams: NDArray[np.int64]) -> NDArray[np.int64]:
    half = MOST_GRAMS // 2
    return grams if grams.size <= MOST_GRAMS else np.concatenate((grams[:half], grams[-half:]))


def _above_rivals(reward: Floats, group: Index) -> Floats:
    """Return what each sample is paid beyond its rivals, in spreads [N]; NaN where it has none or is not paid."""
    reward = np.where(np.isfinite(reward), reward, np.nan)
    inner = reward - mean_within(reward, group)[group]
    rivals = np.bincount(group)[group]
    inner = np.where(rivals >= 2, inner * rivals / np.maximum(rivals - 1, 1), np.nan)
    spread = float(np.nanstd(inner)) if np.isfinite(inner).any() else 0.0
    return inner / spread if spread > 0 else np.full(reward.size, np.nan)


def _lift(inner: Floats, who: Index, phrase: Index, size: int) -> tuple[Floats, Floats]:
    known = np.isfinite(inner[who])
    count = np.bincount(phrase[known], minlength=size)
    total = np.bincount(phrase[known], weights=inner[who][known], minlength=size)
    gain = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return gain, gain * np.sqrt(count)


def _by_chance(inner: Floats, group: Index, who: Index, phrase: Index, size: int) -> float:
    """Return the highest z of any phrase when the rewards are shuffled within prompts (Westfall & Young 1993)."""
    random = np.random.default_rng(0)
    place = np.argsort(group, kind="stable")
    highest = 0.0
    for _ in range(ROUNDS if size else 0):
        shuffled = np.empty_like(inner)
        shuffled[place] = inner[np.lexsort((random.random(inner.size), group))]
        z = _lift(shuffled, who, phrase, size)[1]
        highest = max(highest, float(np.max(np.nan_to_num(z), initial=0.0)))
    return highest


def numbered(names: Sequence[str]) -> Index:
    """Return a number for each name, equal for equal ones, from 0 in order of appearance [N]."""
    known: dict[str, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], np.int64)


def share_of(phrases: Phrases, chosen: NDArray[np.bool_]) -> Floats:
    """Return the share of each sample's runs of words that are `chosen` phrases [F] -> [N]."""
    hits = np.bincount(phrases.sample[chosen[phrases.phrase]], minlength=phrases.grams.size)
    return hits / np.maximum(phrases.grams, 1)
