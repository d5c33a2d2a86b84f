"""Whether a response depends on its prompt: can the prompt be found from the response?

Entropy within a prompt misses a policy that says the same to everybody; how well responses can be told apart by their
prompts does not (RAGEN-2's mutual information proxy; Wang et al. 2025, arXiv 2504.20073, for the collapse itself).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...stats import mean_interval
from ..sample import Sample, prompts_of
from ..seen import cut, words_of

MOST_PROMPTS = 512
"""Prompts among which each response's own is looked for. Engineering default."""
MOST_WORDS = 400
"""Words of a prompt that are compared. Engineering default."""


@dataclass(frozen=True)
class Retrieval:
    """How well prompts are found from their responses."""

    found_frac: float
    """Share of the responses whose own prompt fits best, ties shared; `1 / prompts` by chance."""
    above_frac: float
    """Mean share of the other prompts that fit worse than the own, ties counting half; 0.5 by chance."""
    above_low: float
    above_high: float
    prompts: int


def retrieval(samples: Sequence[Sample]) -> Retrieval | None:
    """Look for each response's prompt among the others, one sample a prompt; None with fewer than two prompts.

    A prompt fits by the words that it shares with the response, each counted by how few prompts hold it (inverse
    document frequency, Sparck Jones 1972), for the square root of the prompt's own sum.
    """
    first: dict[str, Sample] = {}
    for sample in samples:
        if sample.prompt and len(first) < MOST_PROMPTS:
            first.setdefault(sample.prompt, sample)
    chosen = list(first.values())
    if len(chosen) < 2:
        return None
    return _found([s.prompt for s in chosen], [s.response for s in chosen])


def rivals(samples: Sequence[Sample]) -> Retrieval | None:
    """Look for each answer's rival among one rival of every prompt; None with fewer than two prompts of two answers.

    What `retrieval` cannot see: answers that depend on their prompt without sharing a word with it (a translation).
    """
    first: dict[str, Sample] = {}
    second: dict[str, Sample] = {}
    for prompt, sample in zip(prompts_of(samples), samples, strict=True):
        if prompt not in first:
            if len(first) < MOST_PROMPTS:
                first[prompt] = sample
        elif sample.response != first[prompt].response:
            second.setdefault(prompt, sample)
    if len(second) < 2:
        return None
    return _found([first[p].response for p in second], [s.response for s in second.values()])


def _found(asked: Sequence[str], said: Sequence[str]) -> Retrieval:
    """Return how well each of `asked` [n] is found from the text of `said` at the same place."""
    fits = scores(asked, said)
    own = np.diagonal(fits)[:, None]
    n = len(said)
    worse, equal = (fits < own).sum(1), (fits == own).sum(1) - 1
    found = np.where(worse + equal == n - 1, 1 / (1 + equal), 0.0)
    above, low, high = mean_interval((worse + equal / 2) / (n - 1))
    return Retrieval(float(found.mean()), above, max(0.0, low), min(1.0, high), n)


def scores(prompts: Sequence[str], responses: Sequence[str]) -> NDArray[np.float64]:
    """Return how well each prompt fits each response [responses, prompts]."""
    held = [set(words_of(cut(p))[:MOST_WORDS]) for p in prompts]
    where: dict[str, list[int]] = {}
    for j, words in enumerate(held):
        for word in words:
            where.setdefault(word, []).append(j)
    rare = {word: math.log(len(prompts) / len(places)) for word, places in where.items()}
    size = np.sqrt([max(sum(rare[w] for w in words), 1e-9) for words in held])
    fits = np.zeros((len(responses), len(prompts)))
    for i, response in enumerate(responses):
        for word in set(words_of(cut(response))) & where.keys():
            fits[i, where[word]] += rare[word]
    return np.round(fits / size, 12)
