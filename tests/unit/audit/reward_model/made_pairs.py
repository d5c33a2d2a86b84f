"""Pairs whose labels follow a Bradley-Terry model of a quality that stands in the text."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from firstbreak.audit.reward_model.api import assembled, jobs_of
from firstbreak.audit.reward_model.pairs import Golden, Pair
from firstbreak.audit.reward_model.record import Scored
from firstbreak.audit.reward_model.scoring import numbers

HERE = Path(__file__).parent
SCORERS = HERE / "scorers.py"
WORDS = ["We", "take", "the", "facts", "in", "turn.", "Each", "of", "them", "is", "plain."]


@cache
def scorers() -> Any:
    spec = importlib.util.spec_from_file_location("planted_scorers", SCORERS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pairs(count: int = 240, seed: int = 0, reversed_in: str = "") -> list[Pair]:
    """Pairs of three categories; lengths say nothing of quality; in `reversed_in` the labels are swapped."""
    draw = np.random.default_rng(seed)
    found: list[Pair] = []
    for row in range(count):
        qualities = draw.normal(0, 1.5, 2)
        texts = [f"quality={q:.3f} {' '.join(draw.choice(WORDS, int(draw.integers(3, 60))))}" for q in qualities]
        subset = ("maths", "chat", "safety")[row % 3]
        won = draw.random() < 1 / (1 + np.exp(qualities[1] - qualities[0]))
        chosen, rejected = texts if won != (subset == reversed_in) else texts[::-1]
        found.append(Pair(row + 1, f"Question {row}?", chosen, rejected, subset))
    return found


def scored(name: str, made: list[Pair] | None = None, golden: list[Golden] | None = None) -> Scored:
    """What a child would have heard from the scorer `name`, asked here."""
    made, golden = made or pairs(), golden or []
    function = getattr(scorers(), name)
    got: dict[str, Any] = {}
    for job, (prompts, responses, size) in jobs_of(made, golden).items():
        values: list[float] = []
        for start in range(0, len(prompts), size):
            part = slice(start, start + size)
            values += numbers(function(prompts[part], responses[part]), len(prompts[part]))
        got[job] = np.array(values)
    return assembled(name, made, golden, got)
