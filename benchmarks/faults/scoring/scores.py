"""The scores, each a pure function of assessed runs and the name of a tool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from .answer import Alarm
from .assessing import FIRSTBREAK, Assessed
from .intervals import Estimate, clustered, mean, median, rate

TOLERANCE_ROWS, TOLERANCE_FRAC = 3, 0.05
"""How far an onset may lie from the truth: three rows or 5 % of the run, whichever is more."""
Runs = Sequence[Assessed]


def faulty(runs: Runs) -> list[Assessed]:
    return [run for run in runs if run.fault is not None]


def healthy(runs: Runs, hard: bool | None = None) -> list[Assessed]:
    """Return runs without a fault: all, only hard negatives, or only plain ones."""
    return [run for run in runs if run.fault is None and (hard is None or run.hard == hard)]


def right_links(run: Assessed) -> frozenset[str]:
    assert run.fault is not None
    return run.fault.links


def is_right(run: Assessed, alarm: Alarm) -> bool:
    """Whether an alarm points at a right link, after the fault was there."""
    return alarm.at >= run.start and not right_links(run).isdisjoint(alarm.links)


def right_alarm(run: Assessed, tool: str) -> Alarm | None:
    """Return the first right alarm of a run, None where there is none."""
    return next((alarm for alarm in run.answers[tool].alarms if is_right(run, alarm)), None)


def early_alarms(run: Assessed, tool: str) -> list[Alarm]:
    """Return the alarms that came before the fault: false ones."""
    return [alarm for alarm in run.answers[tool].alarms if run.mid_run and alarm.at < run.start]


def detection(runs: Runs, tool: str) -> Estimate:
    """Share of fault runs with an alarm at a right link at or after the start of the fault."""
    return rate([right_alarm(run, tool) is not None for run in faulty(runs)])


def any_alarm(runs: Runs, tool: str) -> Estimate:
    """Share of fault runs with an alarm at whatever link at or after the start of the fault."""
    return rate([any(a.at >= run.start for a in run.answers[tool].alarms) for run in faulty(runs)])


def clean_detection(runs: Runs, tool: str) -> Estimate:
    """As `detection`, without the alarm kinds that the tool also raises on a healthy run of the same algorithm."""
    noisy = {(run.algorithm, a.name) for run in healthy(runs) for a in run.answers[tool].alarms}
    return rate(
        [
            any(is_right(run, a) and (run.algorithm, a.name) not in noisy for a in run.answers[tool].alarms)
            for run in faulty(runs)
        ]
    )


def right_when_broken(runs: Runs, tool: str) -> Estimate:
    """Share of the runs called broken, with or without a fault, whose first link is right."""
    called = [run for run in runs if run.answers[tool].verdict == "broken"]
    return rate([run.fault is not None and run.answers[tool].named in right_links(run) for run in called])


def broken_without_fault(runs: Runs, tool: str) -> Estimate:
    """Share of the runs without a fault that are called broken."""
    return rate([run.answers[tool].verdict == "broken" for run in healthy(runs)])


def false_alarms(runs: Runs, tool: str, hard: bool | None = None) -> Estimate:
    """Share of healthy runs with an alarm at any tick."""
    return rate([bool(run.answers[tool].alarms) for run in healthy(runs, hard)])


def early_false_alarms(runs: Runs, tool: str) -> Estimate:
    """Share of runs that alarm in the healthy stretch before their fault."""
    return rate([bool(early_alarms(run, tool)) for run in faulty(runs) if run.mid_run])


def false_alarms_by_rule(runs: Runs, tool: str) -> list[tuple[str, int, int, int]]:
    """Return for each rule: healthy runs it alarms on, early alarms, and fault runs it is right on; worst first."""
    on_healthy = Counter(name for run in healthy(runs) for name in {a.name for a in run.answers[tool].alarms})
    early = Counter(name for run in faulty(runs) for name in {a.name for a in early_alarms(run, tool)})
    right = Counter(
        name for run in faulty(runs) for name in {a.name for a in run.answers[tool].alarms if is_right(run, a)}
    )
    names = sorted(on_healthy | early | right, key=lambda n: (-on_healthy[n] - early[n], -right[n], n))
    return [(name, on_healthy[name], early[name], right[name]) for name in names]


def link_top(runs: Runs, tool: str, k: int, strict: bool = False) -> Estimate:
    """Share of fault runs whose first `k` links hold a right one; `strict` counts the broken link alone."""
    flags: list[bool] = []
    for run in faulty(runs):
        assert run.fault is not None
        right = {run.fault.link} if strict else run.fault.links
        flags.append(not right.isdisjoint(run.answers[tool].links[:k]))
    return rate(flags)


def cause_top(runs: Runs, tool: str = FIRSTBREAK) -> Estimate:
    """Share of runs whose first cause is right, among faults that a cause of the table fits."""
    known = [run for run in faulty(runs) if run.fault is not None and run.fault.causes]
    return rate([run.answers[tool].causes[:1] != () and run.answers[tool].causes[0] in _causes(run) for run in known])


def _causes(run: Assessed) -> tuple[str, ...]:
    return run.fault.causes if run.fault is not None else ()


def first_metric(runs: Runs, tool: str = FIRSTBREAK) -> Estimate:
    """Share of runs that name a metric which is among those measured to leave first, of runs where that was measured.

    A run whose tool names no metric counts as wrong.
    """
    return rate(
        [
            run.answers[tool].metric in {name.partition("@")[0] for name in run.measured.metrics}
            for run in faulty(runs)
            if run.measured is not None
        ]
    )


def onset_errors(runs: Runs, tool: str = FIRSTBREAK) -> list[tuple[Assessed, float]]:
    """Return, for each fault run with an onset, its distance from the start of the fault as a share of the run."""
    found: list[tuple[Assessed, float]] = []
    for run in faulty(runs):
        onset = run.answers[tool].onset
        if onset is not None and run.end > 0:
            found.append((run, abs(onset - run.start) / run.end))
    return found


def onset_error(runs: Runs, tool: str = FIRSTBREAK) -> Estimate:
    """Median of `onset_errors`, bootstrapped over faults."""
    pairs = onset_errors(runs, tool)
    return clustered([error for _, error in pairs], [cluster(run) for run, _ in pairs], median)


def onset_close(runs: Runs, tool: str = FIRSTBREAK) -> Estimate:
    """Share of onsets within the tolerance."""
    return rate(
        [
            error * run.end <= max(TOLERANCE_ROWS * run.cadence, TOLERANCE_FRAC * run.end)
            for run, error in onset_errors(runs, tool)
        ]
    )


def cluster(run: Assessed) -> str:
    """What runs are drawn by in the bootstrap: the fault, or the subject of a healthy run."""
    return run.fault.id if run.fault is not None else f"healthy {run.subject} {run.task}"


def collapses(runs: Runs) -> list[Assessed]:
    """Return mid-run faults after which half of what had been gained was lost, at a known moment."""
    return [run for run in faulty(runs) if run.loss is not None and run.loss.in_question]


def lost_at(run: Assessed) -> float:
    assert run.loss is not None
    return run.loss.lost_at


def live_alarm(run: Assessed) -> Alarm | None:
    """Return the first right alarm of a monitor, given the run row by row."""
    return next((alarm for alarm in run.live or () if is_right(run, alarm)), None)


def in_time(runs: Runs) -> Estimate:
    """Share of collapses in which a monitor raised a right alarm no later than a fifth of the gain was lost."""
    return rate([(a := live_alarm(run)) is not None and a.at <= lost_at(run) for run in collapses(runs)])


def lead(runs: Runs) -> Estimate:
    """Median lead of the right alarm over the loss, as a share of the run, of the collapses that had one."""
    pairs = [(run, a) for run in collapses(runs) if (a := live_alarm(run)) is not None]
    return clustered([(lost_at(run) - a.at) / run.end for run, a in pairs], [cluster(run) for run, _ in pairs], median)


def removed_wrong(runs: Runs) -> Estimate:
    """Share of confident wrong verdicts once the key metric is gone: broken at a wrong link, or called healthy."""
    return rate([confidently_wrong(run) != "" for run in faulty(runs) if run.removed is not None])


def confidently_wrong(run: Assessed) -> str:
    """Say what is confidently wrong in the answer without the key metric, `""` where nothing is.

    A broken link is confidently wrong unless the answer names a right one as a rival that it cannot tell from it; a
    verdict of healthy where it is claimed of a right link, not of one that was looked at in part or not at all.
    """
    assert run.removed is not None
    _, answer = run.removed
    right = right_links(run)
    if answer.verdict == "broken" and not {answer.named, *answer.rivals} & set(right):
        return f"broken at {answer.named}"
    return "called healthy" if answer.verdict == "healthy" and set(answer.claimed) & set(right) else ""


def stability_seeds(runs: Runs, tool: str = FIRSTBREAK) -> Estimate:
    """Share of pairs of seeds of one fault on one subject and task that are told the same first link."""
    groups: dict[tuple[str, str, str, bool], list[Assessed]] = {}
    for run in faulty(runs):
        groups.setdefault((cluster(run), run.subject, run.task, run.mid_run), []).append(run)
    agree: list[float] = []
    names: list[str] = []
    for (fault, *_), members in groups.items():
        for a, b in combinations(members, 2):
            agree.append(float(a.answers[tool].named == b.answers[tool].named))
            names.append(fault)
    return clustered(agree, names, mean)


def stability_variant(runs: Runs, variant: str) -> Estimate:
    """Share of the sample that is told the same under `variant`: verdict and first link both."""
    pairs = [
        (run, (other.verdict, other.named) == (run.answers[FIRSTBREAK].verdict, run.answers[FIRSTBREAK].named))
        for run in runs
        if (other := run.variants.get(variant)) is not None
    ]
    return rate([same for _, same in pairs])


def answered_right(run: Assessed, tool: str) -> bool:
    """Whether an answer is given and right: a right link first for a fault, healthy and quiet for the rest."""
    answer = run.answers[tool]
    if answer.confidence <= 0:
        return False
    if run.fault is None:
        return answer.verdict == "healthy" and not answer.alarms
    return answer.named in run.fault.links


def confusion(runs: Runs, tool: str = FIRSTBREAK) -> Counter[tuple[str, str]]:
    """Count (true link, link named first) over fault runs; a healthy run is `healthy`, no link is `none`."""
    found: Counter[tuple[str, str]] = Counter()
    for run in runs:
        truth = run.fault.link if run.fault is not None else "healthy"
        answer = run.answers[tool]
        told = "healthy" if answer.verdict == "healthy" else answer.named or "none"
        found[truth, told] += 1
    return found
