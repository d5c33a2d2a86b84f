"""From an event of a watch to the notice that alerts send."""

from __future__ import annotations

from ...finding import Severity
from ..blamed import blamed
from ..verdict import Action, Notice, place
from .events import STOPPED, Event, Kind, State

WORDS = {
    State.STALLED: "nothing is written any more",
    State.ZOMBIE: "the log is written but training stands",
    State.GONE: "the process is gone before the planned end",
    State.CRASHED: "the run crashed",
    State.LOST: "the log cannot be read any more",
}


def notice_of(event: Event) -> Notice:
    """Return what is sent of an event that asks for an alert: a finding, or a run that stopped."""
    log = event.diagnosis.log if event.diagnosis is not None else None
    clock = log.clock if log is not None else "rows"
    step = log.last_step if log is not None else 0.0
    if event.kind is Kind.FINDING:
        finding = event.findings[0]
        return Notice(
            level=finding.severity,
            title=f"{finding.name}: {finding.message}",
            text=f"Link {finding.link}, {finding.metric}, seen at {place(step, clock)}.{blamed(event.cause)}",
            run=event.run,
            rule=finding.rule,
            name=finding.name,
            link=str(finding.link),
            metric=finding.metric,
            step=step,
            clock=clock,
            action=str(Action.CONTINUE),
            wall=event.wall,
            cause=event.cause,
            evidence=dict(finding.evidence),
        )
    level = Severity.ERROR if event.state in STOPPED or event.state is State.CRASHED else Severity.WARNING
    return Notice(
        level=level,
        title=f"{event.state.value}: {WORDS.get(event.state, event.text)}",
        text=f"{event.text} (at {place(step, clock)})",
        run=event.run,
        rule="",
        name=f"run-{event.state.value}",
        link="system_resources",
        metric="",
        step=step,
        clock=clock,
        action=str(Action.CONTINUE),
        wall=event.wall,
    )
