"""What firstbreak says of one log: its alarms with the tick at which each came, its diagnosis, its ranked links."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from firstbreak.api import chosen_rules, concluded
from firstbreak.config import Settings
from firstbreak.departure import Bands, against
from firstbreak.diagnosis import Diagnosis, RankedCause, Sight, Verdict
from firstbreak.engine import Outcome, as_finding, run_rules
from firstbreak.finding import Detection, Severity
from firstbreak.limits import left_open
from firstbreak.monitor.guard import LOOKS
from firstbreak.reasoning import reason
from firstbreak.report.words import leading
from firstbreak.runlog import RunLog

from .asking import Asked


@dataclass(frozen=True)
class Alarm:
    """A warning or an error as a monitor would raise it: at a tick, whatever came of it later."""

    name: str
    links: tuple[str, ...]
    """What it points at; a tool that names no link leaves it empty."""
    at: float
    """The tick, on the clock of the rows."""
    message: str = ""
    severity: str = "warning"


@dataclass(frozen=True)
class Answer:
    """What one tool says of one run."""

    verdict: str
    """broken, healthy, undecided; or `""` for tools that give none."""
    alarms: tuple[Alarm, ...] = ()
    links: tuple[str, ...] = ()
    """Ranked, best first, without repeats."""
    rivals: tuple[str, ...] = ()
    """Links of causes that the answer says it cannot tell from its first, or could not look for."""
    causes: tuple[str, ...] = ()
    confidence: float = 0.0
    """Orders answers for selective accuracy; 0 for an abstention."""
    metric: str = ""
    onset: float | None = None
    key_metrics: tuple[str, ...] = ()
    """What the verdict rests on."""
    rule: str = ""
    claimed: tuple[str, ...] = ()
    """Links that a verdict of healthy is claimed of; of those looked at in part the report says so, and of others that
    nothing is claimed."""
    open: tuple[str, ...] = ()
    """Links of which it says that this log cannot settle them, and which evidence would."""
    looked: int = 0
    errors: tuple[str, ...] = ()
    """Rules that failed: a fault of the tool."""

    @property
    def named(self) -> str:
        """The link that it puts first, `""` where it names none."""
        return self.links[0] if self.links else ""


def answer_of(log: RunLog) -> Answer:
    """Ask every rule at every tick, as a monitor and `diagnose` do, and reason over what they say."""
    return answer_from(log, run_rules(log, chosen_rules(Settings())))


def answer_from(log: RunLog, outcomes: Sequence[Outcome]) -> Answer:
    """Reason over what the rules said of `log` at every tick."""
    live = [alarm for outcome in outcomes for alarm in raised(outcome)]
    diagnosis = reason(log, outcomes)
    alarms = [*live, *standing(diagnosis, {alarm.name for alarm in live})]
    return summary(diagnosis, tuple(sorted(alarms, key=lambda alarm: (alarm.at, alarm.name))))


def answer_beside(asked: Asked, healthy: Sequence[RunLog], bands: Bands) -> Answer:
    """Return what the report of the finished run says where `healthy` runs of its task are given (`--baseline`)."""
    held = against(asked.log, healthy, bands)
    diagnosis = concluded(held, asked.of(held), Settings(), healthy)
    return summary(diagnosis, tuple(standing(diagnosis, ())))


def raised(outcome: Outcome) -> list[Alarm]:
    """Return the alarm of a rule that fired, in each scope, with the tick it came at.

    As the monitor's guard has it: an error or a static fact at once, a warning once it fires at `LOOKS` ticks on end.
    """
    rule = outcome.rule
    found: list[Alarm] = []
    for finding in outcome.findings:  # its severity is the highest of all ticks
        looks = 0
        for look in outcome.looks if finding.severity is not Severity.INFO else ():
            view, said = look.view, look.answer
            if view.scope != finding.scope:
                continue
            looks = looks + 1 if isinstance(said, Detection) else 0
            if not isinstance(said, Detection) or (severity := as_finding(rule, said, view).severity) is Severity.INFO:
                continue
            if rule.static or severity is Severity.ERROR or looks >= LOOKS:
                at = min(view.hi, view.log.last_step)
                found.append(Alarm(rule.name, (str(rule.link),), at, said.message, str(finding.severity)))
                break
    return found


def standing(diagnosis: Diagnosis, known: Collection[str]) -> list[Alarm]:
    """Return what the report of the finished run warns of although no monitor would have, as alarms at its end."""
    end = diagnosis.log.last_step
    return [
        Alarm(f.name, (str(f.link),), end, f.message, str(f.severity))
        for f in diagnosis.findings
        if f.severity is not Severity.INFO and not f.ignored and f.name not in known
    ]


def summary(diagnosis: Diagnosis, alarms: tuple[Alarm, ...]) -> Answer:
    """Return what a diagnosis comes to: the first break first, then the causes in their order, then what alarmed.

    Metric, onset and rule are those of the finding that the report leads with.
    """
    first = diagnosis.first_break
    causes = diagnosis.causes
    loud = [f for f in diagnosis.findings if f.severity is not Severity.INFO and not f.ignored]
    links = [str(first.link)] if first is not None else []
    links += [str(cause.link) for cause in causes] + [str(f.link) for f in loud]
    top = leading(diagnosis)
    return Answer(
        verdict=str(diagnosis.verdict),
        alarms=alarms,
        links=tuple(dict.fromkeys(links)),
        rivals=beside(causes),
        causes=tuple(cause.name for cause in causes),
        confidence=confidence(diagnosis),
        metric=top.metric if top is not None else "",
        onset=top.onset.middle if top is not None else None,
        key_metrics=(first.metric,) if first is not None else (),
        rule=top.name if top is not None else "",
        claimed=tuple(str(link) for link, sight in diagnosis.coverage.links.items() if sight is Sight.LOOKED),
        open=tuple(sorted(map(str, left_open(diagnosis.notes)))),
        looked=diagnosis.coverage.looked,
        errors=tuple(f"{name}: {what}" for name, what in diagnosis.coverage.errors),
    )


def beside(causes: Sequence[RankedCause]) -> tuple[str, ...]:
    """Return the links that the answer names beside its first: of rivals, and of what it could not look for."""
    if not causes:
        return ()
    links = {cause.name: str(cause.link) for cause in causes}
    rivals = [links[name] for name in causes[0].rivals if name in links]
    return tuple(dict.fromkeys([*rivals, *(str(one.link) for one in causes[0].not_excluded)]))


def confidence(diagnosis: Diagnosis) -> float:
    """Order answers: broken in (2, 3], healthy 1.5, undecided with a cause in (0, 1]; otherwise 0, an abstention.

    Within a tier the share that the first cause has of the scores of the first two: how clear it is of its rival.
    """
    scores = [cause.score for cause in diagnosis.causes[:2]]
    clear = scores[0] / sum(scores) if scores and sum(scores) > 0 else 0.0
    if diagnosis.verdict is Verdict.BROKEN:
        return 2.0 + clear
    if diagnosis.verdict is Verdict.HEALTHY:
        return 1.5
    return clear
