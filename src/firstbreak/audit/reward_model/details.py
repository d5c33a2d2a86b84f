"""The tables of a reward model's report."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..verifier.rates import Rate
from .fits import bootstrap, brier, calibration_error, noise_of_calibration, sigmoid, slope
from .record import Scored
from .sections import overall

LEAST = 30
"""Pairs from which on calibration is worth a number."""


def details_of(scored: Scored) -> dict[str, Any]:
    """Return what a report shows beside the findings."""
    found: dict[str, Any] = {
        "pairs": len(scored.pairs),
        "valid": int(scored.valid.sum()),
        "left_out": scored.left_out,
        "ties_frac": float((scored.differences == 0).mean()) if scored.differences.size else None,
        "accuracy": _plain(scored.accuracy()),
        "sections": {name: _plain(rate) for name, rate in scored.by(subset=False).items()},
        "subsets": {name: _plain(rate) for name, rate in scored.by(subset=True).items()},
        "tables": [],
    }
    if not scored.differences.size:
        return found
    bench = overall(_counted(scored))
    if bench is not None:
        found["rewardbench"] = {"sections": bench[0], "score": bench[1]}
    if scored.length is not None:
        fit = scored.length
        found["length"] = {"coefficient": fit.length, "low": fit.length_low, "high": fit.length_high}
        found["length"]["accuracy_at_equal_length"] = fit.accuracy_at_equal_length
    if scored.differences.size >= LEAST:
        found["calibration"] = _calibration(scored)
    found["tables"] = [_accuracies(scored), _lengths(scored)]
    return found


def _counted(scored: Scored) -> dict[str, float]:
    """Return the accuracy of each subset as RewardBench counts it: a tie is wrong."""
    won: dict[str, list[bool]] = {}
    for pair, difference in zip(scored.kept, scored.differences, strict=True):
        won.setdefault(pair.subset, []).append(bool(difference > 0))
    return {subset: sum(each) / len(each) for subset, each in won.items()}


def _plain(rate: Rate) -> dict[str, float]:
    return {"frac": rate.value, "low": rate.low, "high": rate.high, "pairs": rate.tries}


def _calibration(scored: Scored) -> dict[str, float]:
    d = scored.differences
    low, high = bootstrap((1.0 - sigmoid(d)) ** 2, scored.rows)
    noise, most = noise_of_calibration(d)
    return {
        "brier": brier(d), "brier_low": low, "brier_high": high, "calibration_error": calibration_error(d),
        "expected_by_chance": noise, "chance_97": most, "slope": slope(d),
    }  # fmt: skip


def _accuracies(scored: Scored) -> dict[str, Any]:
    sections, subsets = scored.by(subset=False), scored.by(subset=True)
    rows = [_row("all", scored.accuracy())] + [_row(name, rate) for name, rate in sections.items()]
    rows += [_row(f"  {name}", rate) for name, rate in subsets.items() if name not in sections]
    columns = ["accuracy", "pairs", "right %", "95 % low", "high"]
    return {"title": "how often the chosen side scores higher (ties left out)", "columns": columns, "rows": rows[:30]}


def _row(name: str, rate: Rate) -> list[Any]:
    return [name[:40], rate.tries, 100 * rate.value, 100 * rate.low, 100 * rate.high]


def _lengths(scored: Scored) -> dict[str, Any]:
    shorter, longer = scored.log_lengths < 0, scored.log_lengths > 0
    rows = [_row("chosen is longer", scored.accuracy(longer)), _row("chosen is shorter", scored.accuracy(shorter))]
    if scored.length is not None:
        rows.append(["at equal length (fit)", None, 100 * scored.length.accuracy_at_equal_length, None, None])
    return {
        "title": "accuracy by length",
        "columns": ["accuracy", "pairs", "right %", "95 % low", "high"],
        "rows": rows,
    }


def notes_of(scored: Scored) -> list[str]:
    """Return what the reader must know of how it was scored."""
    notes = [f"Scoring did not come to its end; {scored.ended}"] if scored.ended else []
    if scored.left_out:
        notes.append(f"{scored.left_out} rows are no pairs and were left out.")
    missing = int(np.count_nonzero(~scored.valid))
    if missing and not scored.ended:
        notes.append(f"{missing} pairs have a score that is not a number and were left out.")
    return notes
