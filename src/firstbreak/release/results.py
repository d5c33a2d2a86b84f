"""Many seeds together: only runs of one task and one protocol, at the length that all of them reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..errors import InputError
from ..evaluation.statistics.aggregates import IQM, MEAN
from ..evaluation.statistics.coverage import measured_coverage
from ..evaluation.statistics.improvement import difference, paired_difference, probability_of_improvement
from ..evaluation.statistics.intervals import Interval, interval
from ..evaluation.statistics.profiles import performance_profile
from ..evaluation.statistics.selection import selection_gain
from .alike import apart, differing, pooled
from .evidence import UNKNOWN, Change, Group, Odd, Results, Run, Score, Selection, count
from .runs import TENTH
from .scores import by_run, protocols_by_run

FEW = 5
"""Runs from which seeds say something (Agarwal et al. 2021, arXiv 2108.13264, section 4; Henderson et al. 2018)."""
THRESHOLDS = 101
"""Points of a performance profile."""
Scale = Mapping[str, tuple[float, float]]
"""Task -> the scores that count as 0 and as 1."""


def many_seeds(
    runs: Sequence[Run], baseline: Sequence[Run] = (), *, odd: Sequence[Odd] = (), scale: Scale | None = None
) -> Results:
    """Return the results of each group of runs that may be compared, and over all tasks where units allow it.

    A group in which runs differ in more than the seed gets no interval: it would be one of nothing.

    Raises:
        InputError: a range of `scale` is empty.
    """
    less = any(run.lower for run in runs)  # of an error, the score that counts as 1 is the smaller one
    for task, (lo, hi) in (scale or {}).items():
        if not (hi < lo if less else lo < hi):
            raise InputError(
                f"{task}={lo:g}:{hi:g} is no range.",
                "For example: --scale " + ("parking=9:0.5" if less else "CartPole-v1=20:500"),
            )
    keys = sorted({_key(run) for run in runs if run.metric})
    groups = [_group([run for run in runs if _key(run) == key], baseline, {o.run for o in odd}) for key in keys]
    overall, remarks = _overall(groups, scale or {}, differing([run for run in runs if run.metric] or runs))
    silent = [run.name for run in runs if not run.metric]
    if silent:
        remarks.append(f"no evaluation in {len(silent)} of {count(len(runs), 'run')}: {', '.join(silent[:4])}")
    return Results(tuple(groups), overall, tuple(remarks))


def _key(run: Run) -> tuple[str, str, str, str]:
    return run.task, run.algorithm, run.protocol, run.metric


def _group(runs: Sequence[Run], baseline: Sequence[Run], odd: set[str]) -> Group:
    first = runs[0]
    horizon, remarks = _horizon(runs)
    scores = tuple(final_score(run, horizon) for run in runs)
    group = Group(
        first.task, first.algorithm, first.protocol, tuple(run.name for run in runs), scores, horizon,
        first.diagnosis.log.clock, first.metric, tuple(run.best for run in runs), remarks=tuple(remarks),
    )  # fmt: skip
    # A baseline may well be another algorithm: that is what one compares.
    others = [r for r in baseline if (r.task, r.protocol, r.metric) == (first.task, first.protocol, first.metric)]
    group = replace(group, baseline=tuple(final_score(run, horizon) for run in others))
    if baseline and not others:
        group = _remark(group, "no run of the baseline has this task, protocol and metric: not compared")
    if first.protocol == UNKNOWN and len(runs) > 1:
        group = _remark(group, "whether all were evaluated alike is not recorded")
    if first.lower:
        group = _remark(group, "less is better: of two performance profiles the lower one is")
    group = _profiled(group)
    mixed = sorted(odd.intersection(group.runs))
    if mixed:
        verb = "differs" if len(mixed) == 1 else "differ"
        return _remark(group, f"{', '.join(mixed[:4])} {verb} in more than the seed: no interval is given")
    return _judged(group, -1.0 if first.lower else 1.0)


def _horizon(runs: Sequence[Run]) -> tuple[float, list[str]]:
    """Return the step that every run which did not crash was evaluated up to, and what to say about it."""
    remarks: list[str] = []
    died = [run for run in runs if run.crashed]
    ends = [float(run.step[-1]) for run in runs if not run.crashed] or [float(run.step[-1]) for run in runs]
    if died:
        remarks.append(f"{len(died)} of {count(len(runs), 'run')} died; each counts with its last evaluation")
    if max(ends) > min(ends):
        remarks.append(f"runs end between {min(ends):g} and {max(ends):g}: all are compared at {min(ends):g}")
    return min(ends), remarks


def final_score(run: Run, horizon: float) -> float:
    """Return the mean evaluation over the last tenth before `horizon`; the last one where none lies there."""
    upto = run.step <= horizon
    if not upto.any():
        return float(run.score[0])
    step, score = run.step[upto], run.score[upto]
    late = step >= horizon - TENTH * horizon
    return float(score[late].mean()) if late.any() else float(score[-1])


def _profiled(group: Group) -> Group:
    scores = np.asarray(group.scores)
    both = np.concatenate([scores, np.asarray(group.baseline)])
    margin = 0.02 * float(np.ptp(both)) or 1.0
    at = np.linspace(float(both.min()) - margin, float(both.max()) + margin, THRESHOLDS)
    group = replace(group, profile=performance_profile(scores, at))
    if group.baseline:
        group = replace(group, baseline_profile=performance_profile(np.asarray(group.baseline), at))
    return group


def _judged(group: Group, sign: float) -> Group:
    """Add intervals; what cannot be said is said in a remark. `sign` is -1 where less is better."""
    scores = np.asarray(group.scores)
    if scores.size < 2:
        return _remark(group, "a single run: no interval can be given; train with 4 more seeds")
    group = replace(
        group, iqm=interval(scores, IQM), mean=interval(scores, MEAN), coverage=coverage_phrase(scores.size)
    )
    if scores.size < FEW:
        group = _remark(group, f"{scores.size} runs are few: give {FEW} or more")
    if _beyond(group):
        said = f"an interval goes beyond all scores ({scores.min():.4g} to {scores.max():.4g})"
        group = _remark(group, f"{said}: it knows no bounds of the task; where this allows no more, it ends there")
    if len(group.baseline) >= 2:
        return replace(group, improvement=probability_of_improvement(sign * scores, sign * np.asarray(group.baseline)))
    return _remark(group, "the baseline is a single run: it is not compared") if group.baseline else group


def _beyond(group: Group) -> bool:
    """Whether a t interval of the group leaves what its runs scored."""
    least, most = min(group.scores), max(group.scores)
    known = [one for one in (group.iqm, group.mean) if one is not None and not one.refused and one.method == "t"]
    return any(one.lo < least or one.hi > most for one in known)


def coverage_phrase(runs: int) -> str:
    """Return how often an interval of so many runs held the truth in simulations, in words."""
    found = measured_coverage(runs)
    return ", ".join(f"{c.held_frac:.0%} ({c.shape})" for c in found)


def _remark(group: Group, text: str) -> Group:
    return replace(group, remarks=(*group.remarks, text))


def _overall(groups: Sequence[Group], scale: Scale, parted: str) -> tuple[Interval | None, list[str]]:
    """Return the interval over tasks, where their scores are of one unit: all within [0, 1], or scaled.

    `parted` names a field in which their protocols differ, though it does not say which task is meant.
    """
    if any(group.iqm is None for group in groups):
        return None, []
    if len({group.task for group in groups}) < 2:
        several = len(groups) > 1
        return None, [
            "runs of one task differ in algorithm, protocol or metric: they are not pooled"
        ] if several else []
    if len({group.task for group in groups}) < len(groups):
        return None, ["runs of one task differ in protocol or metric: nothing is pooled over tasks"]
    if parted:
        return None, [f"the protocols of the tasks differ in {parted}: nothing is pooled over tasks"]
    units: dict[str, list[float]] = {}
    for group in groups:
        lo, hi = scale.get(group.task, (0.0, 1.0))
        units[group.task] = [(score - lo) / (hi - lo) for score in group.scores]
    foreign = [t for t, values in units.items() if t not in scale and not all(0 <= v <= 1 for v in values)]
    if foreign:
        return None, [
            f"scores of {foreign[0]} have a unit of their own: over tasks only with --scale {foreign[0]}=LOW:HIGH"
        ]
    try:
        return interval(units, IQM), []
    except InputError as error:
        return None, [f"nothing is pooled over tasks: {error.message}"]


def selection(runs: Sequence[Run], scores: Sequence[Score]) -> Selection:
    """Return what choosing the best checkpoint gained by luck: its score then, minus its score on fresh seeds."""
    fresh = by_run(scores, "fresh", "best")
    known = [run for run in runs if run.name in fresh and run.score.size]
    most = max((run.score.size for run in runs), default=0)
    if not known:
        missing = ["no best checkpoint was evaluated on fresh seeds"]
        return Selection(evaluations=most, expected=_expected(runs), remarks=tuple(missing))
    which = tuple(run.name for run in known)
    chosen = tuple(run.best for run in known)
    again = tuple(fresh[run.name] for run in known)
    remarks = [f"{len(known)} of {count(len(runs), 'run')} have a fresh evaluation"] if len(known) < len(runs) else []
    stated = protocols_by_run(scores, "fresh", "best")
    mixed = pooled(protocol for run in known for protocol in stated[run.name])
    parted = mixed or next(filter(None, (apart(run, stated[run.name]) for run in known)), "")
    if len(known) < 2:
        remarks.append("a single run: no interval")
        return Selection(which, chosen, again, evaluations=most, remarks=tuple(remarks), apart=parted)
    sign = -1.0 if known[0].lower else 1.0
    gain = None if parted else paired_difference(sign * np.asarray(chosen), sign * np.asarray(again))
    corrected = None if mixed else interval(np.asarray(again), IQM)
    return Selection(which, chosen, again, gain, corrected, most, remarks=tuple(remarks), apart=parted)


def _expected(runs: Sequence[Run]) -> float | None:
    """Return the most that choosing the best evaluation adds when all checkpoints of a run are equally good."""
    gains = [selection_gain(run.score.size, run.noise) for run in runs if run.noise is not None and run.score.size]
    return float(np.mean(gains)) if gains else None


def private_change(scores: Sequence[Score], *, lower: bool = False) -> tuple[Change | None, tuple[str, ...]]:
    """Return how the private set moved from the baseline to the best checkpoint (or the last), and the protocols."""
    which = _released(scores)
    after, before = by_run(scores, "private", which), by_run(scores, "private", "baseline")
    protocols = tuple(sorted({s.protocol or UNKNOWN for s in on_private(scores)}))
    if not after or not before or len(protocols) > 1:
        return None, protocols
    return replace(_change(after, before, "the baseline on the private set"), lower=lower), protocols


def _released(scores: Sequence[Score]) -> str:
    return "best" if by_run(scores, "private", "best") else "last"


def on_private(scores: Sequence[Score]) -> list[Score]:
    """Return the rows of the private set that are compared: those of the best checkpoint (or the last), and before."""
    return [s for s in scores if s.split == "private" and s.checkpoint in (_released(scores), "baseline")]


def reward_change(runs: Sequence[Run], baseline: Sequence[Run]) -> Change | None:
    """Return how the training reward moved: against the baseline's runs where there are any, else over the runs."""
    ends = {run.name: run.reward for run in runs if run.reward is not None}
    if not ends:
        return None
    after = {name: pair[1] for name, pair in ends.items()}
    others = {run.name: run.reward[1] for run in baseline if run.reward is not None}
    if others:
        return _change(after, {f"baseline {name}": value for name, value in others.items()}, "the baseline's runs")
    return _change(after, {name: pair[0] for name, pair in ends.items()}, "the beginning of the runs")


def _change(after: Mapping[str, float], before: Mapping[str, float], against: str) -> Change:
    x, y = np.asarray(list(after.values())), np.asarray(list(before.values()))
    found: Interval | None = None
    if after.keys() == before.keys():
        y = np.asarray([before[name] for name in after])
        found = paired_difference(x, y) if x.size >= 2 else None
    elif x.size >= 2 and y.size >= 2:
        found = difference(x, y)
    return Change(float(y.mean()), float(x.mean()), found, int(min(x.size, y.size)), against)
