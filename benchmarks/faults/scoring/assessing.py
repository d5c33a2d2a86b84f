"""Asks every tool about every run, group by group: runs of one subject and task share their healthy twins."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from firstbreak.config import Settings, chosen_rules
from firstbreak.departure import Bands
from firstbreak.runlog import RunLog
from firstbreak.vocabulary import metrics

from .answer import Alarm, Answer, answer_beside, answer_from, answer_of
from .asking import Asked
from .bands import Band, Left, bands_of, first_left, halves_of
from .catalogue import Fault
from .corpus import Entry, Run, as_guarded, read_run
from .floors import nine_alerts, reward_only
from .logs import load_log
from .losing import Loss, loss_of
from .noting import nameless
from .replay import live_alarms
from .variants import VARIANTS, without

FIRSTBREAK = "firstbreak"
BESIDE = "firstbreak given healthy runs"
UNNAMED = "firstbreak without the task's name"
GIVEN = 5
"""Healthy runs that it is given then, none of them a twin of a fault run: a team's last good runs."""
FREE_SEED = 100
"""Seeds from here on are of healthy runs that no fault was planted beside."""
SYSTEM = "system_resources"


@dataclass(frozen=True)
class Sample:
    """Which runs are also asked without their key metric, and which under each variant."""

    removed: frozenset[str] = frozenset()
    varied: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Assessed:
    """One run: what was done to it, and what each tool says of it."""

    id: str
    subject: str
    framework: str
    algorithm: str
    task: str
    kind: str
    seed: int
    half: str
    fault: Fault | None
    start: float
    mid_run: bool
    end: float
    cadence: float
    """Median distance of two rows."""
    answers: Mapping[str, Answer]
    measurable: bool = False
    """Whether there are twins enough to say which metric left first."""
    measured: Left | None = None
    by_halves: tuple[Left | None, Left | None] | None = None
    """The same by the bands of every other twin, and of those between; None where these are too few."""
    loss: Loss | None = None
    rows_to_loss: int | None = None
    """Rows that were logged after the fault and no later than the loss; only where the score collapses."""
    live: tuple[Alarm, ...] | None = None
    """What a monitor raises while the run goes; asked only where the score collapses."""
    removed: tuple[tuple[str, ...], Answer] | None = None
    """The metrics taken away, and what was said then."""
    variants: Mapping[str, Answer] = field(default_factory=dict[str, Answer])
    seconds: float = 0.0
    """CPU time of the whole assessment."""

    @property
    def hard(self) -> bool:
        return self.kind.startswith("hard_negative")

    def with_answers(self, more: Mapping[str, Answer]) -> Assessed:
        """Return it with the answers of further tools."""
        return replace(self, answers={**self.answers, **more})


def order_of(name: str) -> str:
    """Return what a fixed sample is ordered by: a hash of the run's id, so that new runs do not reshuffle old ones."""
    return hashlib.sha256(name.encode()).hexdigest()


def sample_of(entries: Sequence[Entry], removed: int = 90, faults: int = 24, healthy: int = 12) -> Sample:
    """Return a fixed sample: one run of each fault in turn until there are enough, and some healthy ones."""
    by_fault: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda e: order_of(e.id)):
        by_fault.setdefault(entry.fault, []).append(entry)
    quiet = [entry.id for entry in by_fault.pop("", [])]
    names = sorted(by_fault, key=order_of)
    longest = max(map(len, by_fault.values()), default=0)
    rounds = [by_fault[name][n].id for n in range(longest) for name in names if n < len(by_fault[name])]
    return Sample(frozenset(rounds[:removed]), frozenset([*rounds[:faults], *quiet[:healthy]]))


def groups_of(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Return the runs of each subject and task, the largest group first."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.subject, entry.task), []).append(entry)
    return sorted(groups.values(), key=len, reverse=True)


def curves_of(log: RunLog) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the series of a log that can leave a band; of several under one name the whole run's, else the first."""
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for series in sorted(log.series, key=lambda s: s.scope):
        name = f"{series.metric}@{series.scope}" if series.scope.as_dict() else series.metric
        found.setdefault(name, (series.step, series.value))
    return found


def comparable(bands: Mapping[str, Band], fault: Fault) -> dict[str, Band]:
    """Return the bands that count for `fault`: throughput follows the machine's load, not the fault, unless it is one.

    What only counts or times (kind `system_resources`) is left out for other faults.
    """
    if SYSTEM in fault.links:
        return dict(bands)
    known = metrics()
    return {name: b for name, b in bands.items() if (s := known.get(name.partition("@")[0])) and s.link != SYSTEM}


def assess_group(
    folder: Path, entries: Sequence[Entry], faults: Mapping[str, Fault], half: str, sample: Sample, guarded: bool = True
) -> list[Assessed]:
    """Assess the runs of one subject and task and of one half; twins of both say what is usual.

    With `guarded` the monitor's record is read, else the framework's own log.
    """
    read = [read_run(folder / entry.file, entry.half) for entry in entries]
    runs = [as_guarded(run) for run in read] if guarded else read
    twins: list[tuple[dict[str, tuple[np.ndarray, np.ndarray]], float]] = []
    logs: dict[str, RunLog] = {}
    for run in runs:
        logs[run.id] = load_log(run)
        if run.kind == "healthy":
            twins.append((curves_of(logs[run.id]), run.end_step))
    bands, halves = bands_of(twins), halves_of(twins)
    mine, usual = [run for run in runs if half in ("all", run.half)], Bands()
    found = [assess(run, logs[run.id], faults, bands, sample, given_to(run, runs, logs), usual) for run in mine]
    return [replace(one, by_halves=left_by(one, logs[one.id], halves)) for one in found] if halves else found


def given_to(run: Run, runs: Sequence[Run], logs: Mapping[str, RunLog]) -> list[RunLog]:
    """Return the healthy runs that `run` is held against: the first `GIVEN` without a fault beside them, not itself."""
    free = sorted((r for r in runs if r.kind == "healthy" and r.seed >= FREE_SEED), key=lambda r: r.seed)
    others = [logs[r.id] for r in free if r.id != run.id]
    return others[:GIVEN] if len(others) >= GIVEN else []


def left_by(run: Assessed, log: RunLog, halves: Sequence[Mapping[str, Band]]) -> tuple[Left | None, Left | None] | None:
    """Return what left first by the bands of each half of the twins; None for runs without a fault."""
    if run.fault is None:
        return None
    one, other = (first_left(curves_of(log), comparable(bands, run.fault), run.cadence, run.start) for bands in halves)
    return one, other


def assess(
    run: Run,
    log: RunLog,
    faults: Mapping[str, Fault],
    bands: Mapping[str, Band],
    sample: Sample,
    given: Sequence[RunLog] = (),
    usual: Bands | None = None,
) -> Assessed:
    """Ask every tool about one run, and measure what there is to measure.

    `given` are healthy runs of its task, and `usual` holds what is known of them.
    """
    began = time.process_time()
    fault = faults[run.fault] if run.fault else None
    asked = Asked(log, chosen_rules(Settings()))
    answer = answer_from(log, asked.outcomes)
    known = comparable(bands, fault) if fault is not None else {}
    cadence = cadence_of(log)
    loss = loss_of(run)
    measured = first_left(curves_of(log), known, cadence, run.start) if known else None
    return Assessed(
        id=run.id,
        subject=run.subject,
        framework=run.framework,
        algorithm=run.algorithm,
        task=run.task,
        kind=run.kind,
        seed=run.seed,
        half=run.half,
        fault=fault,
        start=min(run.start, log.last_step) if run.died else run.start,  # death is told at the last row there was
        mid_run=run.mid_run,
        end=run.end_step,
        cadence=cadence,
        answers={
            FIRSTBREAK: answer,
            **({BESIDE: answer_beside(asked, given, usual or Bands())} if given else {}),
            **({UNNAMED: answer_unnamed(asked, run)} if "env_id" in run.config else {}),
            "reward only": reward_only(log),
            "nine alerts": nine_alerts(log),
        },
        measurable=bool(known),
        measured=measured,
        loss=loss,
        rows_to_loss=rows_between(log, run.start, loss.lost_at) if loss is not None and loss.in_question else None,
        live=live_alarms(run) if loss is not None and loss.in_question else None,
        removed=asked_without(run, log, answer) if run.id in sample.removed else None,
        variants={name: answer_of(make(run, log)) for name, make in VARIANTS.items() if run.id in sample.varied},
        seconds=time.process_time() - began,
    )


def answer_unnamed(asked: Asked, run: Run) -> Answer:
    """Return what is said of `run` without the name of its task."""
    log = unnamed(run)
    return answer_from(log, asked.of(log))


def unnamed(run: Run) -> RunLog:
    """Return the log of `run` without the name of its task, and without what that implies."""
    return load_log(replace(run, config=nameless(run.config)))


def cadence_of(log: RunLog) -> float:
    """Return the median distance of two rows of `log`."""
    longest = max(log.series, key=len, default=None)
    rows = np.unique(longest.step) if longest is not None else np.empty(0)
    return float(np.median(np.diff(rows))) if rows.size > 1 else 0.0


def rows_between(log: RunLog, start: float, end: float) -> int:
    """Return the number of rows of `log` after `start` and no later than `end`."""
    rows = np.unique(np.concatenate([s.step for s in log.series])) if log.series else np.empty(0)
    return int(((rows > start) & (rows <= end)).sum())


def asked_without(run: Run, log: RunLog, answer: Answer) -> tuple[tuple[str, ...], Answer] | None:
    """Ask again without the metric that a verdict of broken rests on; None where there is none."""
    if answer.verdict != "broken" or not answer.key_metrics:
        return None
    rest = without(run, log, answer.key_metrics)
    return (answer.key_metrics, answer_of(load_log(rest))) if rest.keys else None


def assess_all(
    folder: Path,
    entries: Sequence[Entry],
    faults: Mapping[str, Fault],
    half: str = "all",
    jobs: int = 1,
    guarded: bool = True,
) -> Iterator[list[Assessed]]:
    """Yield the assessed groups of a folder as they are ready."""
    sample = sample_of([entry for entry in entries if half in ("all", entry.half)])
    orders = [(folder, group, faults, half, sample, guarded) for group in groups_of(entries)]
    if jobs <= 1 or len(orders) <= 1:
        yield from (assess_group(*order) for order in orders)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(assess_group, *zip(*orders, strict=True))


def unknown_faults(entries: Collection[Entry], faults: Mapping[str, Fault]) -> list[str]:
    """Return the faults of runs that the list of faults does not hold."""
    return sorted({entry.fault for entry in entries if entry.fault and entry.fault not in faults})
