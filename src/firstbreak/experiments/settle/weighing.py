"""Diagnosis and results of experiments -> causes ranked anew, with the reasons. A pure function.

A verdict is worth the logarithm of how much likelier it is under the cause than without it: an experiment with power P
and error alpha confirms a true hypothesis with probability P and a false one with alpha / 2. The points of the evidence
table that ranks causes are taken as such log-odds; a decisive rule has 3 of them, and a verdict at the usual 0.8 and
0.05 has 3.5.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...cause import Cause
from ...causes import find_cause
from ...diagnosis import Diagnosis, FirstBreak, RankedCause, Verdict
from ...finding import Finding
from ...reasoning import LEAST_SCORE, RIVAL_RATIO
from ...registry import all_rules
from ...roots import cadences, first_break
from ..result import Outcome, Result, Why
from .settled import Move, Settled
from .ties import Otherwise, Tie, label_of, tied_causes


def settle(diagnosis: Diagnosis, results: Sequence[Result]) -> Settled:
    """Rank the causes of `diagnosis` anew by what `results` found.

    A verdict that speaks for a cause raises it; one that speaks against it lowers it, or rules it out where the
    experiment puts exactly its claim to the test. Inconclusive experiments move nothing. Of several runs of one
    experiment that agree one counts; of several that contradict each other none does.
    """
    counted, left = _verdicts(results)
    known = {c.name: c for c in diagnosis.causes}
    moves: list[Move] = []
    alike: list[frozenset[str]] = []
    for result in counted:
        tied = tied_causes(_label(result))
        mine = [_move(name, tie, result) for name, tie in tied.items() if name in known]
        new = _newcomers(tied, result) if result.outcome is Outcome.CONFIRMED and not mine else []
        alike += [frozenset(m.cause for m in new)] if len(new) > 1 else []
        mine += new
        if not mine:
            left.append((_label(result), "no cause of this run stands or falls with it"))
        moves += mine
    return _settled(diagnosis, moves, counted, left, alike)


def _verdicts(results: Sequence[Result]) -> tuple[list[Result], list[tuple[str, str]]]:
    """Return one decided result for each experiment, and what was left out and why."""
    counted: dict[str, Result] = {}
    left: list[tuple[str, str]] = []
    at_odds: set[str] = set()
    for result in results:
        label = _label(result)
        if result.outcome is Outcome.INCONCLUSIVE:
            left.append((label, _why_open(result)))
        elif label in counted and counted[label].outcome is not result.outcome:
            at_odds.add(label)
        else:
            counted[label] = result
    left += [(name, "two runs of it contradict each other: nothing is concluded from either") for name in at_odds]
    return [r for name, r in counted.items() if name not in at_odds], left


def _label(result: Result) -> str:
    return label_of(result.name, result.plan.subject.given)


def _why_open(result: Result) -> str:
    if result.why is Why.NOT_REPRODUCED:
        return "inconclusive: its control did not show the symptom, so this setup says nothing of the run"
    more = f"; about {result.seeds_needed} pairs of seeds more would decide" if result.seeds_needed else ""
    return f"inconclusive ({result.why.value.replace('_', ' ')}){more}"


def weight(result: Result) -> float:
    """Return the log of how much likelier a verdict is where it is right than where it is wrong."""
    return math.log(result.plan.power / (result.plan.alpha / 2))


def _move(cause: str, tie: Tie, result: Result) -> Move:
    speaks_for = result.outcome is tie.supports
    worth = weight(result) if tie.otherwise is not Otherwise.NOTHING or speaks_for else 0.0
    verb = "speaks for it" if speaks_for else tie.otherwise.value
    return Move(
        cause,
        _label(result),
        result.outcome,
        points=round(worth if speaks_for else -worth, 2) + 0.0,
        removed=tie.otherwise is Otherwise.RULES_OUT and not speaks_for,
        reason=f"{_label(result)} {result.outcome.value}: {verb}. {result.words}",
    )


def _newcomers(tied: Mapping[str, Tie], result: Result) -> list[Move]:
    """Return the causes that an experiment speaks for though the log brought up none of those that it is about.

    Where they are several it does not tell which of them it is: they are then rivals.
    """
    direct = [
        name for name, tie in tied.items() if tie.otherwise is Otherwise.RULES_OUT and tie.supports is Outcome.CONFIRMED
    ]
    return [_move(name, tied[name], result) for name in direct]


def _settled(
    diagnosis: Diagnosis,
    moves: Sequence[Move],
    counted: Sequence[Result],
    left: list[tuple[str, str]],
    alike: Sequence[frozenset[str]],
) -> Settled:
    gone = {m.cause for m in moves if m.removed and not _also_raised(m.cause, moves)}
    points = {name: sum(m.points for m in moves if m.cause == name) for name in {m.cause for m in moves}}
    causes = [*diagnosis.causes, *(_unranked(n) for n in points if n not in {c.name for c in diagnosis.causes})]
    scored = [replace(c, score=round(c.score + points.get(c.name, 0.0), 2)) for c in causes]
    kept = [c for c in scored if c.name not in gone and c.score >= LEAST_SCORE]
    kept.sort(key=lambda c: (-c.score, c.name))
    removed = tuple(c for c in diagnosis.causes if c.name not in {k.name for k in kept})
    ranked = tuple(_with_rivals(c, kept, alike) for c in kept)
    settled = replace(diagnosis, causes=ranked, first_break=_first_break(diagnosis, ranked)) if moves else diagnosis
    notes = [] if ranked or not diagnosis.causes else ["Every cause was ruled out: what broke is none that is known."]
    notes += [f"The verdict does not tell {' from '.join(sorted(names))}: it speaks for either." for names in alike]
    both = sorted({m.cause for m in moves if m.removed and _also_raised(m.cause, moves)})
    notes += [f"Experiments contradict each other over {name}: it is neither convicted nor ruled out." for name in both]
    return Settled(
        before=diagnosis,
        diagnosis=settled,
        moves=tuple(moves),
        removed=removed,
        used=tuple(_label(r) for r in counted if _label(r) not in {label for label, _ in left}),
        left=tuple(left),
        notes=tuple(notes),
    )


def _also_raised(cause: str, moves: Sequence[Move]) -> bool:
    return any(m.cause == cause and m.points > 0 for m in moves)


def _unranked(name: str) -> RankedCause:
    """Return a cause that no finding spoke for, with no points of its own."""
    cause = find_cause(name)
    return RankedCause(cause.name, cause.summary, cause.link, cause.component, 0.0, ())


def _with_rivals(cause: RankedCause, kept: Sequence[RankedCause], alike: Sequence[frozenset[str]] = ()) -> RankedCause:
    """Return `cause` with the rivals it has now, by the rule that a diagnosis uses.

    Causes that one verdict brought up together are rivals as those are that explain the same finding.
    """
    mine = set(cause.explains)
    rivals = tuple(
        other.name
        for other in kept
        if other.name != cause.name
        and other.score >= RIVAL_RATIO * cause.score
        and (mine & set(other.explains) or any({cause.name, other.name} <= both for both in alike))
    )
    return replace(cause, rivals=rivals, separate_with=cause.separate_with if rivals else ())


def _first_break(diagnosis: Diagnosis, ranked: Sequence[RankedCause]) -> FirstBreak | None:
    if diagnosis.verdict is not Verdict.BROKEN:
        return diagnosis.first_break
    active = [f for f in diagnosis.findings if not f.ignored]
    by_id = {f.id: f for f in active}
    scored: list[tuple[Cause, float, tuple[Finding, ...]]] = [
        (find_cause(c.name), c.score, tuple(by_id[i] for i in c.explains if i in by_id)) for c in ranked
    ]
    implied = {rule.name: rule.implies for rule in all_rules()}
    return first_break(active, scored, implied, cadences(diagnosis.log))
