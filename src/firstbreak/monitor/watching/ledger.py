"""Which findings were told already: each once, its end once, and one alert for one cause."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...diagnosis import Diagnosis
from ...finding import Finding, Severity

MOST_RETURNS = 2
"""How often the return of one finding is told: what comes and goes is one piece of news, not twenty."""


@dataclass(frozen=True)
class News:
    """A finding that is new, worse, back or over."""

    finding: Finding
    what: str
    """`new`, `worse`, `back` or `over`."""
    alert: bool = False
    cause: str = ""


@dataclass
class Ledger:
    """What was told of one run."""

    told: dict[str, Finding] = field(default_factory=dict[str, Finding])
    over: set[str] = field(default_factory=set[str])
    returns: dict[str, int] = field(default_factory=dict[str, int])
    alerted: dict[str, Severity] = field(default_factory=dict[str, Severity])
    """Cause (or finding, where no cause is known) -> the worst severity alerted for it."""

    def update(self, diagnosis: Diagnosis) -> list[News]:
        """Return what is to be told now that the run looks like `diagnosis`."""
        present = {f.id: f for f in _first_break_first(diagnosis) if not f.ignored}
        news = [item for f in present.values() if (item := self._told(f, diagnosis)) is not None]
        for identifier, finding in list(self.told.items()):
            now = present.get(identifier)
            if identifier not in self.over and (now is None or now.resolved_at is not None):
                self.over.add(identifier)
                news.append(News(now or finding, "over"))
        return news

    def _told(self, finding: Finding, diagnosis: Diagnosis) -> News | None:
        before = self.told.get(finding.id)
        back = before is not None and finding.id in self.over and finding.resolved_at is None
        if back:
            self.over.discard(finding.id)
            self.returns[finding.id] = self.returns.get(finding.id, 0) + 1
        worse = before is not None and finding.severity.rank > before.severity.rank
        self.told[finding.id] = finding
        if before is None or worse:
            cause, alert = self._alert(finding, diagnosis)
            return News(finding, "worse" if worse else "new", alert, cause)
        if back and self.returns[finding.id] <= MOST_RETURNS:
            return News(finding, "back")
        return None

    def _alert(self, finding: Finding, diagnosis: Diagnosis) -> tuple[str, bool]:
        """Return the likeliest cause and whether to alert: not for a note, not twice for one cause."""
        cause = next((c.name for c in diagnosis.causes if finding.id in c.explains), "")
        if finding.severity is Severity.INFO or (finding.consequence_of or "") in self.told:
            return cause, False
        topic = cause or finding.id
        held = self.alerted.get(topic)
        if held is not None and held.rank >= finding.severity.rank:
            return cause, False
        self.alerted[topic] = finding.severity
        return cause, True


def _first_break_first(diagnosis: Diagnosis) -> list[Finding]:
    """Return the findings in the order of telling: the first break, then errors, warnings and notes as they began."""
    first = diagnosis.first_break
    lead = (first.rule, first.scope) if first is not None else None
    return sorted(diagnosis.findings, key=lambda f: ((f.rule, f.scope) != lead, -f.severity.rank))
