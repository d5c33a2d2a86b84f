"""A golden set: samples whose scores are on record, scored again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ...audit.reading.api import read_samples
from ...audit.sample import Sample
from ...audit.verifier.calling import caller, style_of
from ...audit.verifier.rows import Question
from ...errors import InputError

MOST = 2000
"""Samples scored at most. Engineering default: a golden set is small."""

Score = Callable[[Sequence[Sample]], "np.ndarray[tuple[int], np.dtype[np.float64]]"]
"""Samples -> a score for each, NaN where the scorer failed."""


@dataclass(frozen=True)
class Apart:
    """How far two scorings of the same samples lie apart."""

    mean_abs: float
    """Mean absolute difference, in the unit of the score; a sample that only one of them could score counts as the
    whole spread."""
    mean_shift: float
    moved_frac: float
    """Share of the samples whose score is another."""
    failed_frac: float
    """Share that the second scoring failed on."""


def golden_set(path: Path) -> list[Sample]:
    """Return the samples of `path` that have a score.

    Raises:
        InputError: there are none.
    """
    found = [s for s in islice(read_samples(path), MOST) if math.isfinite(s.reward)]
    if not found:
        raise InputError(f"{path}: no sample with a reward.", "A golden set holds the scores of then beside its texts.")
    return found


def scorer_of(function: Callable[..., Any]) -> Score:
    """Return a function that scores samples the way a trainer calls `function`; one that raises has failed."""
    call = caller(function, style_of(function))

    def one(sample: Sample) -> float:
        return call([_question(sample)], [sample.response])[0].value

    def score(samples: Sequence[Sample]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        try:
            values = [s.value for s in call([_question(s) for s in samples], [s.response for s in samples])]
        except Exception:  # one of them: find out which
            values = [_or_nan(one, s) for s in samples]
        return np.array(values, dtype=np.float64)

    return score


def _question(sample: Sample) -> Question:
    return Question(sample.prompt, sample.answer, "", columns=dict(sample.scores))


def _or_nan(one: Callable[[Sample], float], sample: Sample) -> float:
    try:
        return one(sample)
    except Exception:
        return math.nan


def apart(
    first: np.ndarray[tuple[int], np.dtype[np.float64]], second: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> Apart:
    """Compare two scorings [n] of the same samples, in the same order."""
    spread = spread_of(first)
    failed = ~np.isfinite(second)
    both = np.isfinite(first) & ~failed
    difference = np.where(both, second - first, 0.0)
    distance = np.where(np.isfinite(first) == ~failed, np.abs(difference), spread)
    return Apart(
        float(distance.mean()),
        float(difference[both].mean()) if both.any() else 0.0,
        float((distance > 1e-9 * spread).mean()),
        float(failed.mean()),
    )


def spread_of(scores: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Return the standard deviation of the scores; where they are all alike, their size, or 1."""
    known = scores[np.isfinite(scores)]
    spread = float(known.std()) if known.size else 0.0
    return spread or (float(np.abs(known).max()) if known.size else 0.0) or 1.0
