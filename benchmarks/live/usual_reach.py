"""How far healthy runs leave their own past, and the limits that follow: writes src/firstbreak/data/usual_reach.toml.

    python benchmarks/live/usual_reach.py [--keep FILE] [--kept FILE] [--check] [--to FILE]

Healthy are the sound runs and hard negatives of the fault benchmark's development half (fresh seeds among them), the
twins of the live lists, and what came before the fault in mid-run faults of both. A metric's limit is the largest of
1, `CLEAR` times the farthest of them, and the value that the largest of a task's runs exceeds with a chance of
`CHANCE`, by the tail of the tasks' largest (Hill 1975, doi:10.1214/aos/1176343247): where healthy runs of one task go
ten times as far as those of the next, the one after that may go a hundred times as far. Limits above `USELESS` are
left out, and metrics that fewer than `RUNS` runs or `TASKS` tasks log.

`--check` says how many healthy runs alarm where the limits come from other tasks alone: from half of them (four halves)
and from all but one. `--keep` writes what was measured to a file, `--kept` reads it from there.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from publish import read

from firstbreak.leaving import NOT_ASKED, ROWS, measures
from firstbreak.monitor.history import History
from firstbreak.runlog import RunLog
from firstbreak.series import Confidence
from firstbreak.view import RunView
from firstbreak.vocabulary import metrics

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TABLE = ROOT / "src" / "firstbreak" / "data" / "usual_reach.toml"
LISTS = ("runs", "unseen", "third", "fourth", "fifth")
CHANCE, CLEAR, USELESS = 1e-3, 1.5, 25.0
RUNS, TASKS = 30, 6
TAIL_SHARE, TAIL_LEAST = 0.3, 4
"""Share of the tasks whose largest values make the tail, and how many at least."""
LEAST = 0.3
"""Below this a metric has hardly left its past: it says nothing of a tail."""
SHALLOW = 0.05
"""Least exponent of a tail."""
WORDS = ("cartpole", "acrobot", "pendulum", "inverted", "catch", "reach", "tank", "forage", "lanes", "stock", "escort",
         "follow", "crane", "turns", "following", "before", "hopper", "lander", "corridor")  # fmt: skip
FIRST_TASKS = {"ppo": "cartpole", "sb3_ppo": "cartpole", "dqn": "cartpole", "sb3_dqn": "cartpole",
               "mmrkhs": "cartpole", "sac": "pendulum", "sb3_sac": "pendulum"}  # fmt: skip
"""Tasks of the live list whose subjects do not name it."""
MEASURES = ("range", "record")
Limits = dict[tuple[str, str], float]


@dataclass(frozen=True)
class Healthy:
    """A run, or what of it came before the fault: the most that each metric left its past, by metric and measure."""

    name: str
    task: str
    whole: bool
    most: dict[tuple[str, str], float]


def task_of(name: str) -> str:
    """Return one word for a task, the same for both kinds of records."""
    known = FIRST_TASKS.get(name, name.lower())
    ends = known.rsplit("_", 1)[-1]
    return next((word for word in WORDS if ends == word), next((word for word in WORDS if word in known), known))


def most_of(log: RunLog, until: float = float("inf")) -> dict[tuple[str, str], float]:
    """Return the most that every metric of `log` left its past."""
    view, found = RunView(log, until), dict[tuple[str, str], float]()
    for name in metrics():
        points = None if name.startswith(NOT_ASKED) else view.get(name)
        if points is None or len(points) <= ROWS or points.source.confidence is Confidence.GUESS:
            continue
        for kind, measure in zip(MEASURES, measures(name, points.value), strict=True):
            if np.isfinite(measure).any():
                found[name, kind] = float(measure.max())
    return found


def of_the_benchmark() -> Iterator[Healthy]:
    """Measure the healthy runs of the development half."""
    sys.path.insert(0, str(ROOT))
    from benchmarks.faults.scoring.corpus import as_guarded, read_manifest, read_run
    from benchmarks.faults.scoring.logs import load_log

    folder = ROOT / "benchmarks" / "faults" / "runs"
    for entry in read_manifest(folder):
        if entry.half not in ("dev", "fresh") or (entry.fault and not entry.start_frac):
            continue
        run = as_guarded(read_run(folder / entry.file, entry.half))
        until = run.start if run.fault else float("inf")
        yield Healthy(entry.id, task_of(entry.task), not run.fault, most_of(load_log(run), until))


def of_the_lists() -> Iterator[Healthy]:
    """Measure the twins of the live lists, and what came before their faults."""
    for name in LISTS:
        for run in read(HERE / name):
            rows = [row for row in run["rows"] if not run["fault"] or row[0] <= run["began"]]
            told = f"{name}/{run['subject']}-{run['fault'] or 'twin'}-{run['seed']}"
            yield Healthy(told, task_of(run["subject"]), not run["fault"], most_of(history_of(run, rows)))


def history_of(run: dict[str, Any], rows: list[Any]) -> RunLog:
    """Return what a monitor knows of `rows` of a live run."""
    own = "stable_baselines3" if run["subject"].startswith("sb3") else "trl" if run["subject"] == "grpo" else ""
    framework = run.get("framework", own)
    history = History("run", algorithm=run["algorithm"], framework=framework, clock=run["clock"], config=run["config"])
    for step, row in rows:
        history.add(tuple(row), [float(value) for value in row.values()], float(step), 0.0)
    return history.log()


def limits(healthy: list[Healthy], asked: Callable[[str], bool] = bool) -> Limits:
    """Return the limits that the healthy runs of the tasks `asked` set."""
    most: dict[tuple[str, str], dict[str, float]] = {}
    runs: dict[tuple[str, str], int] = {}
    for one in healthy:
        if not asked(one.task):
            continue
        for key, value in one.most.items():
            tasks = most.setdefault(key, {})
            tasks[one.task] = max(tasks.get(one.task, LEAST), value)
            runs[key] = runs.get(key, 0) + one.whole
    enough = {key: list(of.values()) for key, of in most.items() if len(of) >= TASKS and runs[key] >= RUNS}
    found = {key: limit(values) for key, values in enough.items()}
    return {key: value for key, value in sorted(found.items()) if value <= USELESS}


def limit(values: list[float]) -> float:
    """Return the limit that the largest values of the tasks set."""
    high = sorted(values, reverse=True)
    tail = min(max(TAIL_LEAST, int(TAIL_SHARE * len(high))), len(high) - 1)
    exponent = max(float(np.mean(np.log(np.array(high[:tail]) / high[tail]))), SHALLOW)
    return max(1.0, CLEAR * high[0], high[tail] * (tail / (len(high) * CHANCE)) ** exponent)


def alarms(healthy: list[Healthy], known: Limits, asked: Callable[[str], bool]) -> list[str]:
    """Return the healthy runs of the tasks `asked` that go beyond the limits, each with the first metric that does."""
    found: list[str] = []
    for one in healthy:
        beyond = [key for key, value in one.most.items() if value >= known.get(key, float("inf"))]
        if asked(one.task) and beyond:
            found.append(f"{one.name}: {beyond[0][0]} ({beyond[0][1]})")
    return found


def check(healthy: list[Healthy]) -> None:
    """Say how many healthy runs alarm by the limits of other tasks."""
    tasks = sorted({one.task for one in healthy})
    found: list[str] = []
    asked_of = 0
    for seed in (0, 1):
        drawn = random.Random(seed).sample(tasks, len(tasks))
        for half in (set(drawn[::2]), set(drawn[1::2])):
            found += alarms(healthy, limits(healthy, lambda t, h=half: t not in h), lambda t, h=half: t in h)
            asked_of += sum(one.task in half for one in healthy)
    print(
        f"limits of half of the tasks: {len(found)} of {asked_of} healthy runs of the others alarm", *found, sep="\n  "
    )
    left = [
        told
        for task in tasks
        for told in alarms(healthy, limits(healthy, lambda t, o=task: t != o), lambda t, o=task: t == o)
    ]
    print(f"limits of all tasks but one: {len(left)} of {len(healthy)} alarm", *left, sep="\n  ")
    print(f"limits of all: {len(alarms(healthy, limits(healthy), bool))}")


def table(healthy: list[Healthy]) -> str:
    """Return the table as text."""
    known = limits(healthy)
    whole = sum(one.whole for one in healthy)
    lines = [
        "# Written by benchmarks/live/usual_reach.py: how far a metric may leave its past (range, record), and how far",
        "# it went in healthy runs at most (seen_range, seen_record). In ranges of its past, and in times its record.",
        f'corpus = "{whole} healthy runs and {len(healthy) - whole} healthy beginnings of '
        f'{len({one.task for one in healthy})} tasks, 2026-11-26"',
    ]
    for name in sorted({metric for metric, _ in known}):
        lines.append(f'[reach."{name}"]')
        for kind in MEASURES:
            seen = max((one.most[name, kind] for one in healthy if (name, kind) in one.most), default=0.0)
            lines.append(f"{kind} = {rounded(known.get((name, kind), float('inf')))}")
            lines.append(f"seen_{kind} = {rounded(max(seen, 0.0))}")
    return "\n".join(lines) + "\n"


def rounded(value: float) -> float:
    """Return `value` to three digits."""
    return float(f"{value:.3g}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--to", type=Path, default=TABLE)
    args = parser.parse_args()
    if args.kept:
        healthy = [Healthy(n, t, w, {tuple(k.split(" ")): v for k, v in m.items()}) for n, t, w, m in
                   json.loads(args.kept.read_text("utf-8"))]  # fmt: skip
    else:
        healthy = [*of_the_benchmark(), *of_the_lists()]
    if args.keep:
        rows = [(o.name, o.task, o.whole, {" ".join(k): v for k, v in o.most.items()}) for o in healthy]
        args.keep.write_text(json.dumps(rows), "utf-8")
    if args.check:
        check(healthy)
    args.to.write_text(table(healthy), "utf-8")


if __name__ == "__main__":
    main()
