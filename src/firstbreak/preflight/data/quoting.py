"""Rows whose prompt quotes another row: a conversation as one row a turn, each prompt with the turns before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

WHOLE = 0.9
"""Share of the words of an answer found in a prompt that quotes it. Engineering default: tokens cut at the ends."""
HISTORY = 0.8
"""Share of the words of a prompt found in one that goes on from it. Engineering default."""
LONG = 8
"""Words of an answer that are not all in a foreign prompt by accident, whatever the prompts share."""
CUT = 0.4
"""In place of `WHOLE` where only both ends of a long prompt were kept."""


def quotes(
    prompts: Sequence[frozenset[str]], answers: Sequence[frozenset[str]], cut: Sequence[bool]
) -> NDArray[np.bool_]:
    """Return whether prompt i quotes row j [n, n]: it holds the answer of j, and the prompt of j or a long answer.

    Such a row goes on from the other, as turns of a conversation do; that its prompt shares words with the answer of j
    does not say that they belong together. A prompt that holds its own answer quotes nothing.
    """
    index = {word: k for k, word in enumerate(sorted({w for one in prompts for w in one}))}
    held = np.zeros((len(prompts), len(index)))
    said = np.zeros_like(held)
    for i, (prompt, answer) in enumerate(zip(prompts, answers, strict=True)):
        held[i, [index[w] for w in prompt]] = 1.0
        said[i, [index[w] for w in answer if w in index]] = 1.0
    long = np.array([len(one) for one in answers], np.float64)
    enough = np.where(np.asarray(cut, np.bool_), CUT, WHOLE)[:, None]
    answered = (held @ said.T >= enough * long) & (long > 0)
    wide = np.maximum(held.sum(1), 1.0)
    goes_on = (held @ held.T >= HISTORY * wide) & (wide[:, None] > wide)
    found = answered & (goes_on | (long >= LONG))
    np.fill_diagonal(found, val=False)
    return found
