"""All scores of one set of runs, by name; the same for parts of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.faults.catalogue import tasks

from . import scores
from .assessing import FIRSTBREAK, Assessed
from .intervals import Estimate
from .others import Tool, claimed
from .selective import selective_area
from .variants import VARIANTS

Runs = Sequence[Assessed]


@dataclass(frozen=True)
class Wanted:
    """A score: how it is named and measured, its target, and which direction is better."""

    title: str
    measure: Callable[[Runs], Estimate]
    target: float | None = None
    higher: bool = True
    share: bool = True
    """Printed in per cent."""


def _of(measure: Callable[..., Estimate], *more: object) -> Callable[[Runs], Estimate]:
    return lambda runs: measure(runs, FIRSTBREAK, *more)


def _under(variant: str) -> Callable[[Runs], Estimate]:
    return lambda runs: scores.stability_variant(runs, variant)


OURS: Mapping[str, Wanted] = {
    "recall": Wanted("detection recall: an alarm at a right link", _of(scores.detection), 0.95),
    "any_alarm": Wanted("any alarm on a fault, whatever the link", _of(scores.any_alarm)),
    "right_when_broken": Wanted("runs called broken whose first link is right", _of(scores.right_when_broken)),
    "broken_without_fault": Wanted(
        "runs without a fault that are called broken", _of(scores.broken_without_fault), higher=False
    ),
    "false_alarms": Wanted(
        "false alarms on healthy runs, any tick", _of(scores.false_alarms, False), 0.02, higher=False
    ),
    "false_alarms_hard": Wanted(
        "false alarms on hard negatives, any tick", _of(scores.false_alarms, True), 0.05, higher=False
    ),
    "early_alarms": Wanted(
        "false alarms in the healthy stretch before a fault", _of(scores.early_false_alarms), 0.02, higher=False
    ),
    "link_top1": Wanted("link, first answer", _of(scores.link_top, 1), 0.85),
    "link_top1_strict": Wanted("link, first answer, without `also_right`", _of(scores.link_top, 1, True)),
    "link_top2": Wanted("link, first two answers", _of(scores.link_top, 2), 0.95),
    "cause_top1": Wanted("cause, first answer", scores.cause_top),
    "first_metric": Wanted("names a metric that measurably left first", scores.first_metric, 0.80),
    "onset_error": Wanted("onset error, median share of the run", scores.onset_error, 0.05, higher=False),
    "onset_close": Wanted("onset within 3 rows or 5 % of the run", scores.onset_close),
    "in_time": Wanted("collapses with the right alarm before a fifth was lost, live", scores.in_time, 0.80),
    "lead": Wanted("median lead of the right alarm, live, share of the run", scores.lead),
    "removed_wrong": Wanted(
        "confidently wrong without the key metric", scores.removed_wrong, 0.0, higher=False
    ),
    "stable_seeds": Wanted("pairs of seeds told the same link", scores.stability_seeds),
    **{
        f"stable_{name}": Wanted(f"same verdict and link when {name}", _under(name))
        for name in VARIANTS
    },
    "selective": Wanted("selective accuracy, area over coverage", _of(selective_area)),
}  # fmt: skip
"""The scores of firstbreak. Targets are those set before the benchmark was made."""


def measured(runs: Runs) -> dict[str, Estimate]:
    """Return every score of `runs`."""
    return {name: wanted.measure(runs) for name, wanted in OURS.items()}


@dataclass(frozen=True)
class Rival:
    """What can be said of any tool beside firstbreak, on the runs that it was given."""

    tool: str
    faults: int
    any_alarm: Estimate
    recall: Estimate
    clean: Estimate
    top1: Estimate
    false_alarms: Estimate
    false_alarms_hard: Estimate
    selective: Estimate


def beside(runs: Runs, tool: str) -> Rival:
    """Score a tool on the runs that it has an answer for."""
    given = [run for run in runs if tool in run.answers]
    return Rival(
        tool=tool,
        faults=len(scores.faulty(given)),
        any_alarm=scores.any_alarm(given, tool),
        recall=scores.detection(given, tool),
        clean=scores.clean_detection(given, tool),
        top1=scores.link_top(given, tool, 1),
        false_alarms=scores.false_alarms(given, tool, False),
        false_alarms_hard=scores.false_alarms(given, tool, True),
        selective=selective_area(given, tool),
    )


def claims(runs: Runs, tools: Sequence[Tool]) -> list[tuple[Rival, Rival]]:
    """Score each tool on the links that its own alarms speak of, and firstbreak on the same runs."""
    parted = [(tool, claimed(runs, tool)) for tool in tools]
    return [(beside(part, tool.name), beside(part, FIRSTBREAK)) for tool, part in parted if part]


def half_of(place: str) -> str:
    """Return the half that a task was dealt to. Faults are dealt by themselves: a held fault on a held task is seen by
    nobody's rules in either way."""
    return tasks()[place].half if place in tasks() else ""


PARTS: Mapping[str, Callable[[Assessed], str]] = {
    "link": lambda run: run.fault.link if run.fault is not None else "",
    "algorithm": lambda run: run.algorithm,
    "framework": lambda run: run.framework,
    "start": lambda run: "" if run.fault is None else "mid-run" if run.mid_run else "from the start",
    "half of the task": lambda run: half_of(f"{run.subject}:{run.task}"),
}
"""What runs are told apart by."""


def parts(runs: Runs, by: str) -> dict[str, list[Assessed]]:
    """Return the runs by link, algorithm, framework or start; those without one are left out."""
    found: dict[str, list[Assessed]] = {}
    for run in runs:
        name = PARTS[by](run)
        if name:
            found.setdefault(name, []).append(run)
    return dict(sorted(found.items()))
