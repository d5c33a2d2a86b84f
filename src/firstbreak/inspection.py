"""`Inspection`: what is known about one environment, reward, task, trainer or plan before a run. Plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .check import LONGEST_MESSAGE, Check, Look, Symptom, checks_of, names_of
from .diagnosis import FirstBreak, Sight, Skipped, Verdict
from .finding import LOOP, Finding, Link, Onset, Severity, Skip

START = Onset(0, 0, "env_steps", 1.0)
"""The onset of what was broken before the first step."""


@dataclass(frozen=True)
class Inspection:
    """Everything that a preflight says about one target."""

    kind: str
    """The family of checks: environment, policy, reward, task, data, memory, invariants or probes."""
    target: str
    verdict: Verdict
    findings: tuple[Finding, ...]
    """In the order of the checks; consequences carry `consequence_of`."""
    clear: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    errors: tuple[tuple[str, str], ...] = ()
    """(check name, message) of checks that failed, by our fault or by that of code they called: never a verdict."""
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The command's own part: what was run, for how long, and the tables of its report."""
    notes: tuple[str, ...] = ()

    @property
    def first_break(self) -> FirstBreak | None:
        """The first error that no other finding explains; None unless the target is broken."""
        for finding in self.findings:
            if finding.severity is Severity.ERROR and finding.consequence_of is None and not finding.ignored:
                return FirstBreak(
                    finding.link,
                    finding.component,
                    finding.scope,
                    finding.rule,
                    finding.name,
                    finding.metric,
                    finding.onset,
                )
        return None

    @property
    def looked(self) -> int:
        """How many checks fired or were clear."""
        return len({f.name for f in self.findings}) + len(self.clear)

    @property
    def sights(self) -> dict[Link, Sight]:
        """How much of each link the checks of this family saw; links they do not concern are absent."""
        seen = {*self.clear, *(f.name for f in self.findings)}
        sights: dict[Link, Sight] = {}
        for link in LOOP:
            mine = [c.name for c in checks_of(self.kind) if c.link is link]
            looked = sum(name in seen for name in mine)
            if mine:
                sights[link] = Sight.LOOKED if looked == len(mine) else Sight.PARTIAL if looked else Sight.BLIND
        return sights


def inspection(
    kind: str,
    target: str,
    looks: Sequence[Look],
    *,
    details: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
) -> Inspection:
    """Turn how the checks of a family ended into an `Inspection`.

    *broken*: an error that nothing explains away. *healthy*: nothing at warning or above, every check looked or does
    not concern this target, and none withholds its consent. *undecided*: everything else.
    """
    checks = {c.name: c for c in checks_of(kind)}
    fired = {k.check for k in looks if k.symptom is not None}
    order = list(checks)
    findings = [
        _finding(checks[k.check], k.symptom, fired, checks)
        for k in sorted(looks, key=lambda k: order.index(k.check))
        if k.symptom is not None
    ]
    told = {k.check for k in looks}
    skipped = [
        Skipped(checks[k.check].code, k.check, k.skip.reason, k.skip.unlock_with, _open(k.skip))
        for k in looks
        if k.skip is not None
    ]
    missing = [Skipped(c.code, c.name, "was not reached", (), True) for c in checks.values() if c.name not in told]
    errors = [(k.check, k.error) for k in looks if k.error]
    withheld = bool(missing or errors) or any(k.skip is not None and k.skip.withholds for k in looks)
    return Inspection(
        kind=kind,
        target=target,
        verdict=_verdict(findings, withheld),
        findings=tuple(findings),
        clear=names_of(looks),
        skipped=(*skipped, *missing),
        errors=tuple(errors),
        details=dict(details or {}),
        notes=tuple(notes),
    )


def _open(skip: Skip) -> bool:
    """Whether a check that did not look concerns the target: something would let it, or it withholds its consent."""
    return bool(skip.unlock_with) or skip.withholds


def _verdict(findings: Sequence[Finding], withheld: bool) -> Verdict:
    worst = max((f.severity.rank for f in findings if not f.ignored), default=0)
    if worst == Severity.ERROR.rank:
        return Verdict.BROKEN
    return Verdict.UNDECIDED if worst or withheld else Verdict.HEALTHY


def _finding(one: Check, symptom: Symptom, fired: set[str], checks: Mapping[str, Check]) -> Finding:
    cause = next((name for name in one.explained_by if name in fired), None)
    return Finding(
        rule=one.code,
        name=one.name,
        link=symptom.link or one.link,
        component=symptom.component or one.component,
        severity=symptom.severity or one.severity,
        onset=symptom.at or START,
        message=symptom.message[:LONGEST_MESSAGE],
        metric=symptom.where,
        evidence=dict(symptom.evidence),
        static=True,
        consequence_of=None if cause is None else checks[cause].code,
    )


def together(seen: Iterable[Inspection]) -> Verdict:
    """Return the verdict over several inspections: broken if any is, healthy only if all are."""
    verdicts = {one.verdict for one in seen}
    if Verdict.BROKEN in verdicts:
        return Verdict.BROKEN
    return Verdict.HEALTHY if verdicts == {Verdict.HEALTHY} else Verdict.UNDECIDED
