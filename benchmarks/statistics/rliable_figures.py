"""What rliable says of the scores in `SCORES`, from the same resamples as firstbreak, and how far the two are apart.

rliable is no dependency: it needs arch, and arch 7 fails with pandas 3. In an environment of its own:

    python -m venv rliable && rliable/bin/pip install rliable==1.2.0 'pandas<3' rich jinja2
    PYTHONPATH=src:. rliable/bin/python -m benchmarks.statistics.rliable_figures

It writes tests/data/statistics/rliable.json, which tests/unit/evaluation/statistics/test_rliable.py holds firstbreak
against, and exits 1 where the two differ by more than 1e-6.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.statistics.figures import LIMIT, REPS, SCORES, TARGETS, THRESHOLDS, apart, ours
from firstbreak.evaluation.statistics.intervals import resampling

Array = NDArray[np.float64]
PAGE = Path(__file__).parents[2] / "tests" / "data" / "statistics" / "rliable.json"
COMMAND = "PYTHONPATH=src:. python -m benchmarks.statistics.rliable_figures"


def theirs(x: Array, y: Array) -> dict[str, Any]:
    """Return the figures of rliable for scores [runs, tasks]; its intervals are percentiles of given resamples."""
    from rliable import library, metrics

    class One(library.StratifiedBootstrap):
        """rliable's bootstrap, drawing what it is given."""

        def update_indices(self) -> Any:
            return next(self.given)

    class Two(library.StratifiedIndependentBootstrap):
        """The same for two sets of scores."""

        def update_indices(self) -> Any:
            return next(self.given)

    def ends(kind: Any, given: Iterator[Any], value: Callable[..., Any], *scores: Array) -> list[Any]:
        bootstrap = kind(*scores)
        bootstrap.given = given
        found = bootstrap.conf_int(lambda *s: np.atleast_1d(value(*s)), reps=REPS, method="percentile")
        return [end if end.size > 1 else end.item() for end in found]

    aggregates: dict[str, Callable[[Array], Any]] = {"mean": metrics.aggregate_mean, "iqm": metrics.aggregate_iqm}
    for target in TARGETS:
        aggregates[f"gap to {target:g}"] = lambda s, target=target: metrics.aggregate_optimality_gap(s, target)
    found: dict[str, Any] = {
        name: [float(value(x)), *ends(One, single(x), value, x)] for name, value in aggregates.items()
    }
    better = metrics.probability_of_improvement
    found["improvement"] = [float(better(x, y)), *ends(Two, double(x, y), better, x, y)]
    found["profile"] = [one.tolist() for one in (_profile(x), *ends(One, single(x), _profile, x))]
    return found


def _profile(x: Array) -> Any:
    from rliable import library

    return library.score_distributions(x, np.array(THRESHOLDS))


def single(x: Array) -> Iterator[Any]:
    """Yield what rliable calls indices: the runs of each task, and the tasks."""
    runs, tasks = x.shape
    draws = np.stack(resampling([runs] * tasks, REPS, 0), axis=-1)  # [reps, runs, tasks]
    for draw in draws:
        yield draw, np.arange(tasks)[None]


def double(x: Array, y: Array) -> Iterator[Any]:
    """Yield the indices of two sets of scores."""
    (m, tasks), n = x.shape, y.shape[0]
    draws = resampling([m] * tasks + [n] * tasks, REPS, 0)
    left, right = np.stack(draws[:tasks], axis=-1), np.stack(draws[tasks:], axis=-1)
    for a, b in zip(left, right, strict=True):
        yield [(a, np.arange(tasks)[None]), (b, np.arange(tasks)[None])], {}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write rliable's figures; return 1 where firstbreak's are not the same."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=PAGE, metavar="FILE", help="where the figures are written")
    folder: Path = parser.parse_args(arguments).to
    figures = {name: theirs(*scores) for name, scores in SCORES.items()}
    made = {
        "made_by": COMMAND,
        "on": date.today().isoformat(),
        "versions": {name: version(name) for name in ("rliable", "arch", "pandas", "numpy", "scipy")},
        "figures": figures,
    }
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
    most = 0.0
    for name, figure in figures.items():
        for what, distance in apart(figure, ours(*SCORES[name])).items():
            print(f"{name:8} {what:12} differ by at most {distance:.1e}")
            most = max(most, distance)
    print("the same to 1e-6" if most <= LIMIT else "NOT THE SAME")
    return 0 if most <= LIMIT else 1


if __name__ == "__main__":
    raise SystemExit(main())
