"""Which faults count: those that cost true score, or move their quantity of the protocol, by more than chance.

Clean minus broken must be more than three times the larger standard deviation over seeds (the fault list's rule 1). The
score of a run is the mean true score of its last quarter. Faults that are on from the start and those that are switched
on midway are judged apart: a policy that has learned already does not unlearn of everything.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from benchmarks.faults.catalogue import faults
from benchmarks.faults.plans import GATE_SEEDS
from benchmarks.faults.recording import plain, read_run, runs_in

TIMES = 3.0
"""Standard deviations. Fault list, rule 1."""
LAST = 0.25
"""Share of the run whose score counts."""
SCREEN_TIMES = 1.5
"""At the screen, with two broken runs, a fault is dropped below so many standard deviations of the clean runs. Half of
`TIMES`: the mean of two falls short of it by chance in 2 of 100 faults that would pass (3 - 1.5 > 2 / sqrt 2)."""

TOO_FEW, SCREENED = "too few runs", "turned down at the screen"


@dataclass(frozen=True)
class Judged:
    """What the gate says of a fault at one place and one kind of start."""

    fault: str
    subject: str
    task: str
    start: str
    counts: bool
    reason: str
    clean_runs: int
    broken_runs: int
    clean_mean: float | None = None
    broken_mean: float | None = None
    larger_sd: float | None = None
    times: float | None = None
    """Difference over the larger standard deviation."""
    died: int = 0


def score_of(run: Mapping[str, Any]) -> float | None:
    """Mean true score over the last quarter of a run, or as much of it as there was before it died."""
    points = [(float(s), as_float(v)) for s, v in zip(run["truth"]["step"], run["truth"]["score"], strict=True)]
    if not points:
        return None
    last = [value for step, value in points if step >= (1 - LAST) * float(run["end_step"])]
    return fmean(last or [points[-1][1]])


def is_nan(value: float | None) -> bool:
    """Whether it is there and no number."""
    return value is not None and math.isnan(value)


def as_float(value: float | str) -> float:
    """A number of the corpus, where "nan" and the infinities are words."""
    return float(value)


def times_the_spread(clean: Sequence[float], broken: Sequence[float]) -> tuple[float, float]:
    """Clean minus broken over the larger standard deviation, and that deviation (of the sample, n - 1)."""
    spread = max(stdev(clean) if len(clean) > 1 else 0.0, stdev(broken) if len(broken) > 1 else 0.0)
    difference = fmean(clean) - fmean(broken)
    if spread == 0.0:
        return (0.0 if difference == 0 else math.copysign(math.inf, difference)), spread
    return difference / spread, spread


def judged(
    key: tuple[str, str, str, str], clean: Sequence[Mapping[str, Any]], broken: Sequence[Mapping[str, Any]]
) -> Judged:
    """The gate's word on the runs of one fault at one place and kind of start."""
    fault, subject, task, start = key
    protocol = faults()[fault].protocol
    figures = [[figure_of(run, fault) for run in runs] for runs in (clean, broken)]
    good, bad = ([x for x in part if x is not None and not math.isnan(x)] for part in figures)
    # A score that is no number is that of a policy that acts no more.
    died = sum(bool(run["died"]) or is_nan(figure) for run, figure in zip(broken, figures[1], strict=True))
    known = {"clean_runs": len(clean), "broken_runs": len(broken), "died": died}
    if len(broken) < GATE_SEEDS or len(clean) < GATE_SEEDS:
        why, seen = short_of_seeds(clean, broken), figures_of(*figures, protocol)
        return Judged(fault, subject, task, start, False, why, **known, **seen)
    if died > len(broken) / 2:
        return Judged(fault, subject, task, start, True, "the training dies", **known)
    if len(good) < GATE_SEEDS or len(bad) < 2:
        return Judged(fault, subject, task, start, False, "no score to compare", **known)
    # A quantity of the protocol may move either way; a score has to fall.
    times, spread = times_the_spread(good, bad)
    times = abs(times) if protocol else times
    counts = times > TIMES
    reason = "" if counts else f"clean minus broken is {times:.2f} times the larger deviation; {TIMES:g} are asked for"
    measured = {"clean_mean": fmean(good), "broken_mean": fmean(bad), "larger_sd": spread, "times": times}
    return Judged(fault, subject, task, start, counts, reason, **known, **measured)


def short_of_seeds(clean: Sequence[Mapping[str, Any]], broken: Sequence[Mapping[str, Any]]) -> str:
    """Why fewer than the gate's seeds were made: the screen turned the fault down, or they were not made yet."""
    return SCREENED if len(clean) >= GATE_SEEDS and not promising(clean, broken) else TOO_FEW


def figures_of(clean: Sequence[float | None], broken: Sequence[float | None], either_way: bool) -> dict[str, Any]:
    """What the screen saw, as far as it can be told. The deviation is that of the clean runs: two broken say little."""
    good, bad = ([x for x in part if x is not None and not math.isnan(x)] for part in (clean, broken))
    if len(good) < 2 or not bad:
        return {}
    spread, difference = stdev(good), fmean(good) - fmean(bad)
    difference = abs(difference) if either_way else difference
    found = {"clean_mean": fmean(good), "broken_mean": fmean(bad), "larger_sd": spread}
    return found | ({"times": difference / spread} if spread else {})


def figure_of(run: Mapping[str, Any], fault: str) -> float | None:
    """What `fault` is judged by: the true score, or the quantity of the protocol that it moves."""
    entry = faults()[fault]
    if not entry.protocol:
        return score_of(run)
    if not entry.oracle:
        value = run["truth"].get("oracle")
        return None if value is None else as_float(value)
    steps, values = run["keys"].get(entry.oracle, [[], []])
    begins = (1 - LAST) * float(run["end_step"])
    last = [as_float(value) for step, value in zip(steps, values, strict=True) if as_float(step) >= begins]
    return fmean(last) if last else None


def judged_all(runs: Iterable[Mapping[str, Any]]) -> list[Judged]:
    """The gate's word on every fault of these runs, in order."""
    clean: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    broken: dict[tuple[str, str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for run in runs:
        place = (run["subject"], run["task"])
        if run["fault"] is not None:
            broken[run["fault"], *place, "midway" if run["start_frac"] else "start"].append(run)
        elif run["id"].split("/")[-2] == "clean":
            clean[place].append(run)
    return [judged(key, clean[key[1], key[2]], broken[key]) for key in sorted(broken)]


def promising(clean: Sequence[Mapping[str, Any]], broken: Sequence[Mapping[str, Any]]) -> bool:
    """Whether screened runs of one fault at one place are worth the rest: one died, or their mean is off.

    A mean of two that stands for a difference of `TIMES` deviations is below `SCREEN_TIMES` once in fifty times.
    """
    if not broken:
        return False
    fault = broken[0]["fault"]
    good, bad = ([figure_of(one, fault) for one in runs] for runs in (clean, broken))
    known = [x for x in good if x is not None]
    found = [x for x in bad if x is not None and not math.isnan(x)]
    if any(one["died"] for one in broken) or len(found) < len(bad) or len(known) < 2:
        return True
    difference = fmean(known) - fmean(found)
    return (abs(difference) if faults()[fault].protocol else difference) > SCREEN_TIMES * stdev(known)


def write_gate(folder: Path) -> list[Judged]:
    """Judge the runs of a folder; write `gate.json` and a page of those that were turned down."""
    found = judged_all(map(slim, runs_in(folder)))
    rows = [{name: as_written(value) for name, value in asdict(one).items()} for one in found]
    (folder / "gate.json").write_text(json.dumps(rows, indent=1, allow_nan=False) + "\n", "utf-8")
    (folder / "gate.md").write_text(page(found), encoding="utf-8")
    return found


def as_written(value: Any) -> Any:
    """A field of the gate; numbers that are not finite in the words of the corpus."""
    return plain(value) if isinstance(value, float) else value


def slim(path: Path) -> dict[str, Any]:
    """A run with no more of its log than the gate looks at."""
    run = read_run(path)
    wanted = {fault.oracle for fault in faults().values()}
    return {**run, "keys": {key: rows for key, rows in run["keys"].items() if key in wanted}}


def page(found: Sequence[Judged]) -> str:
    """The faults that were turned down, with their figures."""
    asked = [one for one in found if one.reason not in (TOO_FEW, SCREENED)]
    down, screened = [one for one in asked if not one.counts], [one for one in found if one.reason == SCREENED]
    through = [faults()[name] for name in {one.fault for one in asked if one.counts}]
    held, ours = (sum(map(is_so, through)) for is_so in (lambda f: f.half == "held", lambda f: f.source == "own"))
    left = sum(one.reason == TOO_FEW for one in found)
    head = (
        f"{len(asked) - len(down)} of {len(asked)} faults at their places are load-bearing: {len(through)} different "
        f"faults, {held} of them of the held half, {ours} of our own beside the published list. {len(down)} are not:"
    )
    screen = (
        f"{len(screened)} more were turned down at the screen, with two runs each: they lie less than {SCREEN_TIMES:g} "
        f"standard deviations of the clean runs from these. {left} passed it, and the other seeds were not made: they "
        "do not count."
    )
    return "\n".join([head, "", *rows_of(down), "", screen, "", *rows_of(screened), ""])


def rows_of(down: Sequence[Judged]) -> list[str]:
    """A table of faults that do not count."""
    lines = [
        "| fault | where | start | clean | broken | larger SD | times | why not |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for one in down:
        cells = [number(value) for value in (one.clean_mean, one.broken_mean, one.larger_sd, one.times)]
        lines.append(f"| {one.fault} | {one.subject} {one.task} | {one.start} | {' | '.join(cells)} | {one.reason} |")
    return lines


def number(value: float | None) -> str:
    """A figure of the table."""
    return "" if value is None else f"{value:.3g}"
