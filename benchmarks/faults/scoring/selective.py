"""Accuracy against coverage: how right the most confident answers are, beside answers that never change.

Risk and coverage: El-Yaniv and Wiener 2010, JMLR 11. Here an abstention is not free: it ranks last and counts as wrong,
so that always answering *undecided* is wrong at every coverage.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from . import scores
from .answer import Answer
from .assessing import BESIDE, FIRSTBREAK, Assessed
from .intervals import Estimate, clustered

Runs = Sequence[Assessed]
Floats = NDArray[np.float64]

UNDECIDED = "always undecided"
FIXED = "always "
"""How the names of answers that never change begin."""
COVERAGES = tuple(range(10, 101, 10))
"""In per cent of the runs."""


def accuracies(confidence: Floats, right: Floats) -> Floats:
    """Return the accuracy [n] of the most confident 1, 2, ... n answers.

    Answers of one confidence have no order: each counts as the share of them that is right, the mean over all orders.
    """
    order = np.argsort(-confidence, kind="stable")
    kept, flags = confidence[order], right[order]
    starts = np.flatnonzero(np.diff(kept, prepend=np.inf))
    many = np.diff(starts, append=kept.size)
    level = np.repeat(np.add.reduceat(flags, starts) / many, many)
    return np.cumsum(level) / np.arange(1, kept.size + 1)


def selective_area(runs: Runs, tool: str) -> Estimate:
    """Mean accuracy over all coverages: 0 for an answer that always abstains, 1 for one that is always right."""
    return _drawn(runs, tool, lambda curve: float(curve.mean()))


def at_coverage(runs: Runs, tool: str, percent: int) -> Estimate:
    """Accuracy of the most confident answers, `percent` of all runs (rounded up to whole runs)."""
    return _drawn(runs, tool, lambda curve: float(curve[max(1, math.ceil(percent * curve.size / 100)) - 1]))


def _drawn(runs: Runs, tool: str, statistic: Callable[[Floats], float]) -> Estimate:
    """Return a statistic of the curve with its bootstrap interval, drawn by whole faults."""
    confidence = np.array([run.answers[tool].confidence for run in runs])
    right = np.array([float(scores.answered_right(run, tool)) for run in runs])

    def of(places: Floats) -> float:
        drawn = places.astype(int)
        return statistic(accuracies(confidence[drawn], right[drawn]))

    return clustered(list(range(len(runs))), list(map(scores.cluster, runs)), of)


def columns(runs: Runs) -> list[str]:
    """Return whose curves stand side by side: firstbreak's, and those of answers that never change, best first."""
    fixed = sorted({tool for run in runs for tool in run.answers if tool.startswith(FIXED)} - {UNDECIDED})
    hits = {tool: sum(scores.answered_right(run, tool) for run in runs if tool in run.answers) for tool in fixed}
    beside = [BESIDE] if any(BESIDE in run.answers for run in runs) else []
    return [FIRSTBREAK, *beside, *sorted(fixed, key=lambda tool: (-hits[tool], tool)), UNDECIDED]


def curves(runs: Runs) -> dict[str, dict[int, Estimate]]:
    """Return for each column the accuracy at each coverage, of the runs that it has an answer for."""
    told = [run.with_answers({UNDECIDED: Answer("undecided")}) for run in runs]
    return {
        tool: {
            percent: at_coverage([run for run in told if tool in run.answers], tool, percent) for percent in COVERAGES
        }
        for tool in columns(runs)
    }


def section(runs: Runs, table: Callable[..., str], cell: Callable[[Estimate], str]) -> str:
    """Return the section of the page."""
    answered = sum(run.answers[FIRSTBREAK].confidence > 0 for run in runs)
    right = sum(scores.answered_right(run, FIRSTBREAK) for run in runs)
    text = (
        "Accuracy of the most confident answers, by the share of runs with and without a fault that is answered so; "
        "answers of one confidence count as the share of them that is right. Right is a right link first for a fault, "
        "and *healthy* without an alarm for the rest. What is never answered comes last and counts as wrong. "
        f"firstbreak answers {answered} of {len(runs)} runs, {right} rightly.\n\n"
    )
    found = curves(runs)
    rows = [(f"{percent} %", *(cell(curve[percent]) for curve in found.values())) for percent in COVERAGES]
    return text + table(("coverage", *found), rows)
