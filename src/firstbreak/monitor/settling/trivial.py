"""Answers that need no skill."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...audit.verifier.rows import Question

CONSTANT = "I don't know."


def responses(questions: Sequence[Question], random: np.random.Generator) -> dict[str, list[str]]:
    """Return name -> response to each question [n], of every way of doing nothing."""
    found = {
        "empty": ["" for _ in questions],
        "constant": [CONSTANT for _ in questions],
        "prompt copied": [q.prompt for q in questions],
        "random words": [_words(q.prompt, random) for q in questions],
    }
    said = [q.said for q in questions]
    kinds = sorted({text for text in said if text})
    if kinds:
        common = max(kinds, key=said.count)
        found["common answer"] = [common for _ in questions]
    if len(kinds) > 1:
        others = {text: [o for o in kinds if o != text] for text in {*said}}
        found["another's answer"] = [str(random.choice(others[text])) for text in said]
    return found


def _words(prompt: str, random: np.random.Generator) -> str:
    """Return the words of a prompt in random order: the right vocabulary and length, no meaning."""
    words = prompt.split()[:200]
    return " ".join(str(w) for w in random.permutation(words)) if words else "."
