"""The scores as JSON: for tuning, for the page of results, and to be compared between versions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from firstbreak import __version__
from firstbreak.vocabulary import vocabulary_version

from . import scores, told
from .assessing import FIRSTBREAK, UNNAMED, Assessed
from .ceilings import ceilings
from .intervals import Estimate
from .selective import curves
from .summing import OURS, PARTS, Rival, beside, measured, parts

Runs = Sequence[Assessed]


def document_of(runs: Runs, half: str) -> dict[str, Any]:
    """Return everything that is known of one half."""
    return {
        "schema": 1,
        "version": __version__,
        "vocabulary": vocabulary_version(),
        "half": half,
        "runs": counts(runs),
        "scores": {name: plain(found) for name, found in measured(runs).items()},
        "ceilings": {what: plain(found) for what, found in ceilings(runs)},
        "selective": {
            tool: {str(percent): plain(found) for percent, found in curve.items()}
            for tool, curve in curves(runs).items()
        },
        "parts": {by: {name: brief(part) for name, part in parts(runs, by).items()} for by in PARTS},
        "tools": [as_plain(beside(runs, tool)) for tool in tools_of(runs)],
        "confusion": [[a, b, n] for (a, b), n in sorted(scores.confusion(runs).items())],
        "rules": [list(row) for row in scores.false_alarms_by_rule(runs, FIRSTBREAK)],
        "misses": told.misses(runs),
        "false_alarms": told.false_alarms(runs),
        "confident_errors": told.confident_errors(runs),
        "unstable": told.unstable(runs),
        "rule_errors": told.rule_errors(runs),
        "seconds": sum(run.seconds for run in runs),
    }


def counts(runs: Runs) -> dict[str, int]:
    """Return how many runs there are of each kind."""
    return {
        "faults": len({run.fault.id for run in scores.faulty(runs) if run.fault is not None}),
        "fault_runs": len(scores.faulty(runs)),
        "mid_run": sum(run.mid_run for run in runs),
        "healthy": len(scores.healthy(runs, False)),
        "hard_negatives": len(scores.healthy(runs, True)),
        "tasks": len({run.task for run in runs}),
        "measured_first": sum(run.measured is not None for run in runs),
        "collapses": len(scores.collapses(runs)),
        "without_key_metric": sum(run.removed is not None for run in runs),
        "varied": sum(bool(run.variants) for run in runs),
    }


def tools_of(runs: Runs) -> list[str]:
    """Return every tool that has an answer, firstbreak first. What the name of the task adds has a table of its own."""
    return [tool for tool in dict.fromkeys([FIRSTBREAK, *(t for run in runs for t in run.answers)]) if tool != UNNAMED]


BRIEF = ("recall", "false_alarms", "false_alarms_hard", "link_top1", "link_top2", "cause_top1", "first_metric")
"""The scores that parts are given."""


def brief(runs: Runs) -> dict[str, Any]:
    """Return the scores that make sense of a part."""
    return {name: plain(OURS[name].measure(runs)) for name in BRIEF}


def plain(found: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON has it; None where there is none."""
    return {name: None if isinstance(v, float) and math.isnan(v) else v for name, v in asdict(found).items()}


def as_plain(rival: Rival) -> dict[str, Any]:
    return {name: plain(v) if isinstance(v := getattr(rival, name), Estimate) else v for name in asdict(rival)}
