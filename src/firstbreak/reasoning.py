"""From outcomes to a `Diagnosis`: coverage, ranked causes, first break, nesting, verdict.

The method is docs/design.md, section 6: causes are hypotheses scored by an additive evidence table; order is claimed
only where the onset intervals allow it; what cannot be told apart is named together with what separates it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from .advice import advise, confirmations_for
from .cause import Cause
from .causes import all_causes
from .coverage import cover
from .diagnosis import Confirmation, Coverage, Diagnosis, FirstBreak, RankedCause, Remedy, Verdict
from .engine import Ending, Outcome
from .exclusion import not_excluded
from .finding import Finding, Severity
from .limits import limits
from .patches import patches_for
from .quieting import quieten
from .roots import (
    Cadences,
    Scored,
    cadences,
    explained_by_earlier,
    first_break,
    is_consequence,
    led_by,
    onset_order,
    outerness,
    preceded,
    telling_of,
)
from .runlog import RunLog
from .stats import Order
from .unlocated import unlocated

SEVERITY_WEIGHT = {Severity.ERROR: 1.0, Severity.WARNING: 0.6, Severity.INFO: 0.15}
"""How much a finding's severity counts as evidence. Engineering default."""
PRECEDED = 0.75
"""Factor on a cause when an error that it does not explain, or a specific warning, certainly came before what it
explains: an earlier break is upstream. Engineering default."""
OUTER_BONUS = 0.03
"""Share added per step outward in the loop: of two equally good causes the outer one is looked at first."""
STATIC_FACT = 0.3
"""Weight of an info finding that is a plain fact (configuration, invariant) rather than a weak trend."""
SECOND_HAND = 0.4
"""Factor on a finding that follows from another one which the cause does not explain. Engineering default."""
PASSED = 0.6
"""Factor on a warning that is over: what has passed explains less of what is wrong now. Engineering default."""
LEAST_SCORE = 0.25
"""Causes below this are not worth naming."""
RIVAL_RATIO = 0.75
"""A cause within this factor of the best is its rival: named together, not chosen between."""
MAX_CAUSES = 5


def reason(log: RunLog, outcomes: Sequence[Outcome]) -> Diagnosis:
    """Turn the outcomes of all rules on `log` into a diagnosis."""
    cadence = cadences(log)
    findings, signs = unlocated(quieten([f for o in outcomes for f in o.findings], log), log)
    clear = tuple(o.rule.name for o in outcomes if o.status is Ending.CLEAR)
    coverage = cover(log, outcomes)
    if signs:
        coverage = replace(
            coverage, withheld=coverage.withheld + signs, profile_missing=coverage.profile_missing + signs
        )
    active = [f for f in findings if not f.ignored]
    implied = {o.rule.name: o.rule.implies for o in outcomes}
    causes = rank(active, set(clear), implied, cadence)
    first = first_break(active, causes, implied, cadence)
    causes = led_by(first, causes)
    nested = nest(findings, first, causes, implied, cadence)
    verdict = judge(active, coverage)
    openings = {s.metric: float(s.step[min(1, len(s) - 1)]) for s in log.series if len(s)}
    ranked = [finish(log, scored, causes, coverage, clear, openings) for scored in causes[:MAX_CAUSES]]
    if ranked and verdict is Verdict.BROKEN:
        left = not_excluded(first, causes[0][0], ranked[0].rivals, coverage)
        ranked[0] = replace(ranked[0], not_excluded=left)
    return Diagnosis(
        log=log,
        verdict=verdict,
        first_break=first if verdict is Verdict.BROKEN else None,
        causes=tuple(ranked),
        findings=tuple(sorted(nested, key=lambda f: (f.onset.middle, -f.severity.rank, f.rule))),
        coverage=coverage,
        advice=advise(verdict, active),
        confirm_with=decide_with(log, verdict, ranked, coverage),
        clear=clear,
        notes=undone(log) + limits(log, verdict),
    )


def undone(log: RunLog) -> tuple[str, ...]:
    """Return what to say of a run that was put back to an earlier step: what was undone is gone from its curves."""
    steps = sorted({event.at for event in log.events if event.name == "roll_back"})
    if not steps:
        return ()
    more = f" and {len(steps) - 3} more" if len(steps) > 3 else ""
    where = f"rolled back to step {', '.join(f'{step:g}' for step in steps[:3])}{more}"
    raised = dict.fromkeys(event.text.partition(":")[0] for event in log.events if event.name == "alarm")
    alarms = f" (alarms: {', '.join(raised)})" if raised else ""
    return (f"{where}{alarms}; undone rows not judged",)


def rank(
    active: Sequence[Finding], clear: set[str], implied: dict[str, tuple[str, ...]], cadence: Cadences
) -> list[Scored]:
    """Return the causes that at least one finding speaks for, best first, with the findings each explains."""
    scored: list[Scored] = []
    telling = telling_of(all_causes())
    parents = {f.id: {g.name for g in active if is_consequence(f, g, implied, cadence)} for f in active}
    for cause in all_causes():
        mine = tuple(f for f in active if f.name in cause.explains)
        if not any(cause.explains[f.name] >= 1 and not is_mere_fact(f) for f in mine):
            continue
        points = sum(best_per_rule(cause, mine, parents).values())
        points -= sum(price for name, price in cause.expects.items() if name in clear)
        if preceded(mine, active, cadence) or explained_by_earlier(cause, mine, active, telling, cadence):
            points *= PRECEDED
        points *= 1 + OUTER_BONUS * outerness(cause.link)
        if points >= LEAST_SCORE:
            scored.append((cause, points, mine))
    return sorted(scored, key=lambda item: (-item[1], item[0].name))


def best_per_rule(cause: Cause, mine: Iterable[Finding], parents: Mapping[str, set[str]]) -> dict[str, float]:
    """Points per rule: a rule that fired in several scopes counts once, at its severest.

    A finding that follows from others counts less for a cause that explains none of those, and so does a warning that
    is over.
    """
    points: dict[str, float] = {}
    for finding in mine:
        severity = STATIC_FACT if is_mere_fact(finding) else SEVERITY_WEIGHT[finding.severity]
        value = cause.explains[finding.name] * severity
        upstream = parents.get(finding.id, set())
        if upstream and not any(cause.explains.get(name, 0) >= 1 for name in upstream):
            value *= SECOND_HAND
        if finding.resolved_at is not None and finding.severity is Severity.WARNING:
            value *= PASSED
        points[finding.name] = max(points.get(finding.name, 0.0), value)
    return points


def is_mere_fact(finding: Finding) -> bool:
    """Whether a finding only states a setting or an identity: it supports a cause, and never suggests one."""
    return finding.static and finding.severity is Severity.INFO


def nest(
    findings: Sequence[Finding],
    first: FirstBreak | None,
    causes: Sequence[Scored],
    implied: dict[str, tuple[str, ...]],
    cadence: Cadences,
) -> list[Finding]:
    """Mark each finding that follows from another: from the first break if its cause explains it, else by `implies`."""
    root = next((f for f in findings if first and f.rule == first.rule and f.scope == first.scope), None)
    explained: set[str] = set()
    if root is not None and causes:
        top = next((mine for _, _, mine in causes if root in mine), ())
        explained = {f.id for f in top}
    nested: list[Finding] = []
    for finding in findings:
        parent: Finding | None = None
        if root is not None and finding is not root:
            later = onset_order(finding, root, cadence) is not Order.BEFORE
            if later and (finding.id in explained or is_consequence(finding, root, implied, cadence)):
                parent = root
        if parent is None and finding is not root:
            parent = next(
                (g for g in findings if g is not finding and is_consequence(finding, g, implied, cadence)), None
            )
        nested.append(replace(finding, consequence_of=parent.id) if parent is not None else finding)
    return nested


def judge(active: Sequence[Finding], coverage: Coverage) -> Verdict:
    """Broken with any error; healthy when the algorithm's profile was looked at and nothing is at warning or above."""
    worst = max((f.severity.rank for f in active), default=0)
    if worst >= Severity.ERROR.rank:
        return Verdict.BROKEN
    if worst == 0 and not coverage.profile_missing:
        return Verdict.HEALTHY
    return Verdict.UNDECIDED


def finish(
    log: RunLog,
    scored: Scored,
    causes: Sequence[Scored],
    coverage: Coverage,
    clear: Sequence[str],
    openings: Mapping[str, float],
) -> RankedCause:
    """Turn a scored cause into its printable form: rivals, what separates them, remedies behind their gate.

    `openings` holds each metric's second point: what began by then was broken from the start.
    """
    cause, score, mine = scored
    from_start = any(f.onset.hi <= openings.get(f.metric, f.onset.lo) for f in mine if f.severity is Severity.ERROR)
    explained = {f.id for f in mine}
    rivals = tuple(
        other.name
        for other, points, theirs in causes
        if other is not cause and points >= RIVAL_RATIO * score and explained & {f.id for f in theirs}
    )
    lifted = any(f.static and f.severity is Severity.ERROR for f in mine)
    separate = tuple(cause.separate_with) if rivals else ()
    return RankedCause(
        name=cause.name,
        summary=cause.summary,
        link=cause.link,
        component=cause.component,
        score=round(score, 2),
        explains=tuple(f.id for f in mine),
        against=tuple(name for name in cause.expects if name in clear),
        rivals=rivals,
        separate_with=separate,
        confirm_with=tuple(Confirmation(e.name, e.recipe, e.command, e.evidence) for e in cause.experiments),
        remedies=gate(cause, coverage, log, lifted=lifted, from_start=from_start),
    )


def gate(cause: Cause, coverage: Coverage, log: RunLog, *, lifted: bool, from_start: bool) -> tuple[Remedy, ...]:
    """Order the remedies: those whose outer looks were made first; the others are provisional.

    A hard bound or an exact invariant lifts the gate. A remedy whose outer link failed is left out: mend that first.
    """
    remedies: list[Remedy] = []
    for fix in cause.fixes:
        if fix.needs_past and from_start:
            continue
        outer = tuple(link for link in fix.requires if link is not cause.link)
        unmet = () if lifted else tuple(link for link in outer if not coverage.well_seen(link))
        if not lifted and any(link in coverage.failed for link in outer):
            continue
        patches = patches_for(fix.patch, log) if fix.patch else ()
        remedies.append(Remedy(fix.text, unmet, provisional=bool(unmet), patches=patches))
    return tuple(remedies)


def decide_with(
    log: RunLog, verdict: Verdict, ranked: Sequence[RankedCause], coverage: Coverage
) -> tuple[Confirmation, ...]:
    """For an undecided run: the leading cause's experiment, then what looks at the links that it leaves open."""
    if verdict is not Verdict.UNDECIDED:
        return ()
    leading = [c for c in ranked[:2] if c.confirm_with]
    own = [c.confirm_with[0] for c in leading]
    general = confirmations_for(log, coverage, asked=[c.link for c in leading[:1]])
    found: list[Confirmation] = []
    for look in (*own[:1], *general, *own[1:]):
        if look.experiment not in [f.experiment for f in found] and not made_by(look, found):
            found.append(look)
    return tuple(found)


def made_by(look: Confirmation, others: Sequence[Confirmation]) -> bool:
    """Whether the command of a look is that of another one."""
    return look.command is not None and any(look.command == other.command for other in others)
