"""Runs rules over a run: at every tick on the prefix seen so far, latching what fires.

`diagnose` replays the ticks that a live monitor would see, so an alarm in a report is the alarm the monitor gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from .blame import blamed
from .finding import Detection, Finding, Severity, Skip
from .rule import Answer, Rule, Status
from .runlog import RunLog
from .series import WHOLE_RUN, Confidence, Floats, Scope
from .view import RunView
from .vocabulary import can_log, traits_of

FIRST_TICKS = 8
"""Every one of the first rows is a tick: a run that starts broken is seen at once."""
TICK_RATIO = 1.25
"""After that each tick covers a quarter more rows than the one before: 100,000 rows make 51 ticks."""


class Ending(StrEnum):
    """The four ways a rule can end."""

    FIRED = "fired"
    CLEAR = "clear"
    SKIPPED = "skipped"
    ERROR = "error"


@dataclass(frozen=True)
class Look:
    """What one rule said of one prefix in one scope; None as well where it could not be asked."""

    view: RunView
    answer: Answer


@dataclass(frozen=True)
class Outcome:
    """How one rule ended on one run; exactly one of the four ways."""

    rule: Rule
    status: Ending
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    unlock_with: tuple[str, ...] = ()
    withholds: bool = False
    """Skipped with a sign in sight that keeps the run from being called healthy."""
    looks: tuple[Look, ...] = field(default=(), repr=False, compare=False)
    """Of a rule that fired: what it said at every tick, scope by scope."""


def row_axis(log: RunLog) -> Floats:
    """Return the distinct positions [n] of the longest series: the rows that ticks count."""
    longest = max(log.series, key=len, default=None)
    return np.unique(longest.step) if longest is not None else np.empty(0)


def ticks(rows: Floats) -> list[float]:
    """Return the positions at which rules run: each early row, then geometrically, then the end.

    A log without rows has one tick: rules that look at the configuration alone can still see it.
    """
    if rows.size == 0:
        return [float("inf")]
    counts: list[int] = []
    count = 1
    while count < rows.size:
        counts.append(count)
        count = count + 1 if count < FIRST_TICKS else int(np.ceil(count * TICK_RATIO))
    return [float(rows[c - 1]) for c in counts] + [float("inf")]


def views(log: RunLog, positions: Sequence[float], *, across_phases: bool) -> Iterator[RunView]:
    """Yield the view of each prefix; it starts at the phase the prefix ends in unless `across_phases`."""
    for position in positions:
        lo = float("-inf")
        if not across_phases:
            end = min(position, log.last_step)
            starts = [phase.lo for phase in log.phases if phase.lo <= end]
            lo = max(starts, default=lo)
        yield RunView(log, position, lo)


def prefixes_of(log: RunLog) -> tuple[list[RunView], list[RunView]]:
    """Return the view of `log` at every tick: over all its phases, and from the start of the phase it ends in."""
    positions = ticks(row_axis(log))
    pooled = list(views(log, positions, across_phases=True))
    return pooled, list(views(log, positions, across_phases=False)) if log.phases else pooled


def run_rules(log: RunLog, rules: Iterable[Rule]) -> list[Outcome]:
    """Run `rules` over every tick of `log` and return one outcome each, in the order given."""
    pooled, phased = prefixes_of(log)
    return [run_rule(rule, pooled if rule.across_phases else phased) for rule in rules]


def run_rule(rule: Rule, prefixes: Sequence[RunView]) -> Outcome:
    """Run one rule over the given prefixes of one run."""
    of_events = not rule.metrics and bool(prefixes[-1].log.events)  # a run that died before its first row
    if not prefixes[-1].log.series and not rule.needs_config and not of_events:
        return Outcome(rule, Ending.SKIPPED, reason="the log holds no numbers with a known meaning")
    candidates = scopes(rule, prefixes[-1].log)
    reasons = [why_not(rule, prefixes[-1].at(scope)) for scope in candidates]
    if reasons[-1] is not None and None not in reasons:
        return Outcome(rule, Ending.SKIPPED, reason=reasons[-1].reason, unlock_with=reasons[-1].unlock_with)
    findings: list[Finding] = []
    asked: list[tuple[list[RunView], list[Answer]]] = []
    last: Answer = None
    for scope in candidates:
        latched: Finding | None = None
        seen = [view.at(scope) for view in prefixes]
        answers: list[Answer] = [None] * len(seen)
        for place in looked_at(rule, seen):
            try:
                last = answers[place] = rule.detect(seen[place], rule.params)
            except Exception as error:
                return Outcome(rule, Ending.ERROR, reason=blamed(error))
            latched = latch(latched, rule, last, seen[place])
        asked.append((seen, answers))
        if latched is not None:
            findings.append(latched)
    if findings:
        looks = tuple(Look(*look) for seen, answers in asked for look in zip(seen, answers, strict=True))
        return Outcome(rule, Ending.FIRED, tuple(findings), looks=looks)
    if isinstance(last, Skip):
        return Outcome(rule, Ending.SKIPPED, reason=last.reason, unlock_with=last.unlock_with, withholds=last.withholds)
    return Outcome(rule, Ending.CLEAR)


def looked_at(rule: Rule, seen: Sequence[RunView]) -> Iterator[int]:
    """Yield the places of the prefixes `seen`, of one run in one scope, at which `rule` can look.

    A longer prefix of the whole run holds all that a shorter one does, so that of these the first alone is sought. In a
    scope of its own a metric may take the place of the whole run's with fewer points, and a new phase begins with none.
    """
    if not concerns(rule, seen[-1]):
        return
    growing = seen[0].scope == WHOLE_RUN and seen[0].lo == seen[-1].lo
    able = False
    for place, view in enumerate(seen):
        able = (able and growing) or has_points(rule, view)
        if able:
            yield place


def can_look(rule: Rule, view: RunView) -> bool:
    """Whether `rule` can look at `view` at all: `why_not` without the reason, which costs more than the answer."""
    return has_points(rule, view) and concerns(rule, view)


def concerns(rule: Rule, view: RunView) -> bool:
    """Whether algorithm and settings are such that `rule` has something to say: the same at every tick of a run."""
    return applies(rule, view) and not any(view.config(key) is None for key in rule.needs_config)


def has_points(rule: Rule, view: RunView) -> bool:
    """Whether `view` holds the metrics that `rule` asks for, with as many points as it needs."""
    found = view.get if rule.min_points else view.logged
    for metric in rule.needs:
        if found(metric) is None:
            return False
    for group in rule.any_of:
        if found(*group) is None:
            return False
    if rule.min_points <= 1 or not rule.metrics:
        return True
    return any(len(p) >= rule.min_points for p in map(view.get, rule.metrics) if p is not None)


def applies(rule: Rule, view: RunView) -> bool:
    """Whether the algorithm has the traits that `rule` speaks of; one that is not known may have them."""
    if not rule.when:
        return True
    traits = traits_of(view.algorithm)
    return not traits or traits.issuperset(rule.when)


def why_not(rule: Rule, view: RunView) -> Skip | None:
    """Return why `rule` cannot look at `view` at all, or None when it can."""
    if can_look(rule, view):
        return None
    if not applies(rule, view):
        return Skip(f"does not apply to {view.algorithm}")
    missing = [m for m in rule.needs if not view.has(m)]
    missing += [" or ".join(group) for group in rule.any_of if view.logged(*group) is None]
    if missing and cannot_ever_log(rule, view):
        return Skip(f"does not apply to {view.algorithm}")
    if missing:
        return Skip(f"not logged: {', '.join(missing)}", tuple(missing))
    empty = [m for m in rule.needs if view.get(m) is None]
    empty += [" or ".join(group) for group in rule.any_of if view.get(*group) is None]
    if empty and rule.min_points:
        return Skip(f"no finite value of {', '.join(empty)}", tuple(empty))
    unknown = [key for key in rule.needs_config if view.config(key) is None]
    if unknown:
        return Skip(f"configuration not known: {', '.join(unknown)}", tuple(f"config {key}" for key in unknown))
    have = rule.min_points - points_short(rule, view)
    return Skip(f"needs {rule.min_points} points, has {have}", ("more points (log oftener or run longer)",))


def points_short(rule: Rule, view: RunView) -> int:
    """Return how many points are missing until one of the metrics of `rule` has as many as it needs."""
    return rule.min_points - max((len(p) for p in map(view.get, rule.metrics) if p is not None), default=0)


def cannot_ever_log(rule: Rule, view: RunView) -> bool:
    """Whether this algorithm never has a metric that `rule` cannot do without."""
    groups = [(m,) for m in rule.needs] + list(rule.any_of)
    return any(not any(view.has(m) or can_log(view.algorithm, m) for m in group) for group in groups)


def scopes(rule: Rule, log: RunLog) -> list[Scope]:
    """Return the scopes in which `rule` looks: the whole run, and each policy, agent or rank that logs its metrics."""
    if not log.divided:
        return [WHOLE_RUN]
    found: dict[Scope, None] = {}
    for metric in rule.metrics:
        for scope in log.scopes(metric):
            if not scope.component:
                found[scope] = None
    found.setdefault(WHOLE_RUN, None)
    return sorted(found)


def latch(held: Finding | None, rule: Rule, answer: Answer, view: RunView) -> Finding | None:
    """Fold one tick's answer into the finding held so far: first firing stays, later ones may raise its severity.

    What was resolved and comes back worse is another event, with an onset of its own; so is an alarm after a note: a
    note says how things stand, not that something broke. What turns out to be explained by something harmless, which
    was too new to be seen, becomes the note.
    """
    if not isinstance(answer, Detection):
        if held is not None and held.resolved_at is None and answer is None:
            return replace(held, resolved_at=min(view.hi, view.log.last_step))
        return held
    finding = as_finding(rule, answer, view)
    if held is None:
        return finding
    if held.onset.hi >= answer.excused_from:
        return replace(finding, onset=held.onset)
    if finding.severity.rank > held.severity.rank:
        another = held.resolved_at is not None or held.severity is Severity.INFO
        return finding if another else replace(finding, onset=held.onset)
    return replace(held, resolved_at=None)


def as_finding(rule: Rule, detection: Detection, view: RunView) -> Finding:
    """Turn a detection into a finding; guesses and preview rules are capped at `info`."""
    severity = detection.severity or rule.severity
    points = view.get(detection.metric)
    confidence = points.source.confidence if points is not None else Confidence.EXACT
    if rule.status is Status.PREVIEW or confidence is Confidence.GUESS:
        severity = Severity.INFO
    return Finding(
        rule=rule.code,
        name=rule.name,
        link=rule.link,
        component=rule.component,
        severity=severity,
        onset=detection.onset,
        message=detection.message,
        metric=detection.metric,
        evidence=detection.evidence,
        scope=view.scope,
        confidence=confidence,
        static=rule.static,
        params_hash=rule.params_hash,
    )
