"""How often intervals hold the truth, by shape of the scores, number of runs and statistic.

    python -m benchmarks.statistics.coverage

A few minutes on one core; writes benchmarks/statistics/results/coverage.json for `benchmarks.statistics.publish`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.statistics.shapes import ALL, Array, Shape
from firstbreak.evaluation.statistics import IQM, MEAN
from firstbreak.evaluation.statistics.intervals import default_method, ends

RESULTS = Path(__file__).parent / "results"
RUNS = (20, 30, 50, 100, 5, 10)
MEANS, RESAMPLED = 20_000, 2_000
"""Simulations of intervals that need no resampling, and of those that do."""
REPS = 300
TRUTHS = 2_000_000


def means(shape: Shape, runs: int, tasks: int = 1) -> float:
    """Return the share of intervals that hold the mean over tasks."""
    random = np.random.default_rng([runs, tasks])
    method = default_method(runs, trimmed=False)
    many = MEANS if method == "skewed" else RESAMPLED
    data = [shape.draw(random, (many, runs)) for _ in range(tasks)]
    return _held(ends(data, MEAN.value, level=0.95, method=method, reps=REPS), shape.mean)


def differences(shape: Shape, runs: int) -> float:
    """Return the share that hold the difference of two means, of which the second is of twice as many runs."""
    random = np.random.default_rng([runs, 2])
    method = default_method(runs, trimmed=False)
    many = MEANS if method == "skewed" else RESAMPLED
    data = [shape.draw(random, (many, size)) for size in (runs, 2 * runs)]
    found = ends(data, lambda s: MEAN.value(s[:1]) - MEAN.value(s[1:]), level=0.95, method=method, reps=REPS)
    return _held(found, 0.0)


def trimmed(shape: Shape, runs: int) -> float:
    """Return the share that hold the interquartile mean."""
    random = np.random.default_rng([runs, 3])
    truth = float(IQM.value([shape.draw(random, (TRUTHS,))]))
    data = [shape.draw(random, (RESAMPLED, runs))]
    return _held(ends(data, IQM.value, level=0.95, method=default_method(runs), reps=REPS), truth)


def _held(found: tuple[Array, Array], truth: float) -> float:
    return float(np.mean((found[0] <= truth) & (truth <= found[1])))


def measured(shape: Shape, runs: int, kept: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the row of one shape and number of runs; what is `kept` of the interquartile mean is not measured anew."""
    return {
        "shape": shape.name,
        "seen": shape.seen,
        "runs": runs,
        "mean": means(shape, runs),
        "mean of 3 tasks": means(shape, runs, 3),
        "difference": differences(shape, runs),
        "interquartile mean": kept["interquartile mean"] if kept else trimmed(shape, runs),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=RESULTS / "coverage.json", metavar="FILE")
    parser.add_argument("--new", action="store_true", help="take up again: only what the file does not hold")
    parser.add_argument(
        "--means", action="store_true", help="keep what resamples: only means and differences of 20 runs or more"
    )
    asked = parser.parse_args(arguments)
    to: Path = asked.to
    old: list[dict[str, Any]] = (
        json.loads(to.read_text("utf-8"))["rows"] if (asked.new or asked.means) and to.exists() else []
    )
    again = {(r["shape"], r["runs"]): r for r in old if asked.means and default_method(r["runs"], trimmed=False) != "t"}
    rows = [row for row in old if (row["shape"], row["runs"]) not in again]
    known = {(row["shape"], row["runs"]) for row in rows}
    to.parent.mkdir(parents=True, exist_ok=True)
    for runs in RUNS:
        for shape in (one for one in ALL if (one.name, runs) not in known):
            rows.append(measured(shape, runs, again.get((shape.name, runs))))
            print(json.dumps(rows[-1]), flush=True)
            made = {
                "on": date.today().isoformat(),
                "simulations": MEANS,
                "simulations_resampled": RESAMPLED,
                "reps": REPS,
            }
            to.write_text(json.dumps({**made, "rows": rows}, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
