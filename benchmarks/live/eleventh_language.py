"""TRL's GRPO in the eleventh live campaign: another question for the tiny language model; the rest is the tenth's."""

from __future__ import annotations

from typing import Any

import tenth_language
from eleventh_stand_in import standing_in
from tiny_language_model import LETTERS
from worlds import Truth

UPDATES, WINDOW = 220, 15
SETTINGS: dict[str, Any] = {"learning_rate": 4e-3}
ANSWER = 5
"""Letters of an answer; what comes after them is too much."""
SUBJECT = "grpo_skip"


def wanted(prompt: str) -> str:
    """Return the letter that is asked for: the second after the prompt's, a coming after h."""
    return LETTERS[(LETTERS.index(prompt[0]) + 2) % len(LETTERS)]


def right(prompt: str, text: str) -> float:
    """The share of an answer's places with the letter that is asked for; excess costs."""
    return text[:ANSWER].count(wanted(prompt)) / max(ANSWER, len(text))


def train(fault: str, seed: int, share: float, monitor: Any, truth: Truth) -> None:
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    ours = {"right": right, "wanted": wanted, "UPDATES": UPDATES, "SETTINGS": SETTINGS, "ANSWER": ANSWER}
    with standing_in(tenth_language, **ours):
        tenth_language.train(fault, seed, share, monitor, truth)
