"""Write docs/statistics_results.md from the results of `coverage`, `rliable_figures` and the contamination benchmark.

python -m benchmarks.statistics.publish [--to FILE]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.faults.scoring.page import table
from benchmarks.statistics.coverage import RESULTS
from benchmarks.statistics.figures import SCORES, apart, ours
from benchmarks.statistics.rliable_figures import PAGE as FIXTURE

PAGE = Path(__file__).parents[2] / "docs" / "statistics_results.md"
STATISTICS = ("mean", "mean of 3 tasks", "difference", "interquartile mean")
LOW, HIGH = 0.93, 0.97
MANY = 20
HEAD = """# Do the statistics hold?

Made by

    python -m benchmarks.statistics.coverage
    PYTHONPATH=src:. python -m benchmarks.statistics.rliable_figures
    python benchmarks/speed/contamination.py --full --to benchmarks/statistics/results/contamination.json
    python -m benchmarks.statistics.publish
"""
METHOD = """
## How often a 95 % interval holds the truth

- **Means, gaps and differences of 20 runs or more**: Student's t bent to the skewness of the scores (Hall 1992, JRSS B
  54) and to how heavy their tails are (the terms in the kurtosis of the Edgeworth expansion, Hall 1992). Of a skewness
  no more is believed than 1 and a quarter of the excess kurtosis (but at least 0.5, at most 1.5), of an excess kurtosis
  no more than 2. Nothing is resampled.
- **Interquartile means of 20 runs or more**: the stratified bootstrap, its percentiles widened (Hesterberg 2015).
- **Fewer runs**: Student's t around the bootstrap's standard error. It is calibrated for no shape, and `firstbreak eval
  score` prints what it holds.
- Shapes marked * were in sight when the method and its limits were chosen; the others were drawn up afterwards.
- *difference* is of two means, the second of twice as many runs.
"""
CEILING = f"""Of 20 runs of which one in ten fails, {0.9**20:.1%} (0.9^20) show no failure at all. They are then 20
draws of a normal distribution with mean 1 and standard deviation 0.1, whose standard error is 0.022: to reach the true
mean of 0.9 an interval must go down 4.5 standard errors, where Student's t of such scores goes down 2.1. An interval
that does so holds the mean of normal scores 99.97 times in 100. So one that is right 93 to 97 times of normal scores
can hold this mean {1 - 0.9**20:.1%} of the time and hardly more. Bahadur and Savage (1956, Annals of Mathematical
Statistics 27) prove that no interval of finite length holds the mean of every shape. Take 30 runs, or the interquartile
mean.
"""
"""Why the shape whose rare runs are not seen cannot be held."""


def share(value: float, runs: int) -> str:
    """Return a coverage in percent, bold where it is not within 93 to 97 % though it ought to be."""
    text = f"{100 * value:.1f}"
    return f"**{text}**" if runs >= MANY and not LOW <= value <= HIGH else text


def coverage(found: dict[str, Any]) -> list[str]:
    """Return the section on coverage: what holds, what does not, and every figure."""
    rows: list[dict[str, Any]] = found["rows"]
    many = [row for row in rows if row["runs"] >= MANY]
    cells = [(row, name) for row in many for name in STATISTICS]
    inside = [LOW <= row[name] <= HIGH for row, name in cells]
    values = [row[name] for row, name in cells]
    off = [
        f"{row['shape']}, {row['runs']} runs, {name}: {100 * row[name]:.1f} %"
        for (row, name), good in zip(cells, inside, strict=True)
        if not good
    ]
    lines = [
        METHOD,
        f"**{sum(inside)} of {len(inside)} figures at 20 to 100 runs lie within 93 to 97 %** "
        f"({100 * min(values):.1f} to {100 * max(values):.1f} %).",
        "",
    ]
    fresh = [LOW <= row[name] <= HIGH for row in many if not row["seen"] for name in STATISTICS]
    lines += [f"Of the shapes drawn up afterwards {sum(fresh)} of {len(fresh)} lie there.", ""]
    lines += [f"- outside: {text}" for text in off]
    lines += ["", CEILING] if off else []
    lines += ["", f"{found['simulations']:,} simulations each, {found['simulations_resampled']:,} where intervals are "
              f"resampled (standard errors of 0.15 and 0.5 points); {found['on']}.", ""]  # fmt: skip
    for runs in sorted({row["runs"] for row in rows}):
        mine = [row for row in rows if row["runs"] == runs]
        body = [
            [row["shape"] + (" *" if row["seen"] else ""), *(share(row[name], runs) for name in STATISTICS)]
            for row in mine
        ]
        lines += [f"### {runs} runs", "", table([f"shape, {runs} runs", *STATISTICS], body).rstrip(), ""]
    return lines


def agreement(found: dict[str, Any]) -> list[str]:
    """Return the section on rliable."""
    each = {name: apart(found["figures"][name], ours(*SCORES[name])) for name in SCORES}
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    most = max(value for one in each.values() for value in one.values())
    lines = [
        "## A second implementation",
        "",
        f"rliable itself ({versions}; {found['on']}) was given the same scores and, through its own bootstrap classes,",
        f"the same resamples. Estimates and both ends of the intervals differ by at most {most:.0e}; 1e-6 was asked",
        "for. Student's t, the incomplete beta function, trimmed means and moments are held against SciPy by tests.",
        "",
    ]
    names = list(next(iter(each.values())))
    body = [[name, *(f"{one[n]:.0e}" for n in names)] for name, one in each.items()]
    return [*lines, table(["scores", *names], body)]


def contamination(found: dict[str, Any]) -> list[str]:
    """Return the section on contamination."""
    lines = [
        "## Contamination",
        "",
        f"{found['train_rows']:,} training prompts against {found['eval_rows']:,} evaluation prompts, {found['on']}, "
        f"{found['cores']} cores (load {found['load']:g} at the end): {found['wall_s']:.0f} s of wall time, "
        f"{found['cpu_s']:.0f} s of processor time, {found['memory_bytes'] / 2**30:.2f} GiB; asked for were 600 s and "
        f"2 GiB. Found: {100 * found['found_frac']:.2f} % of {found['planted']:,} planted near-duplicates (99 % asked "
        f"for); false: {100 * found['false_frac']:.3f} % of the evaluation prompts that nothing was planted of (at "
        "most 0.1 %).",
        "",
    ]
    body = [[name, f"{hit} of {due}", str(below)] for name, (hit, due, below) in found["edits"].items()]
    return [*lines, table(["edit", "found, of an overlap of 0.7 or more", "planted below it"], body)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=PAGE, metavar="FILE")
    to: Path = parser.parse_args(arguments).to
    held, twin, leaked = (
        json.loads(path.read_text("utf-8"))
        for path in (RESULTS / "coverage.json", FIXTURE, RESULTS / "contamination.json")
    )
    lines = [HEAD, *contamination(leaked), *agreement(twin), *coverage(held)]
    to.write_text("\n".join(lines).rstrip() + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
