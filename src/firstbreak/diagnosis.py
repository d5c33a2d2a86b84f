"""`Diagnosis`: what is known about one run, ready to be printed. Plain data; how it is reached is in `reasoning`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .finding import Component, Finding, Link, Onset
from .patches import Patch
from .runlog import RunLog
from .series import Scope


class Verdict(StrEnum):
    """What can be said of a run."""

    BROKEN = "broken"
    HEALTHY = "healthy"
    UNDECIDED = "undecided"


class Sight(StrEnum):
    """How much of a link was looked at."""

    LOOKED = "looked"
    """By every rule that concerns the run: only then is a verdict of healthy claimed of the whole link."""
    PARTIAL = "partial"
    BLIND = "blind"


class Advice(StrEnum):
    """What to do with a run that is still going."""

    CONTINUE = "continue"
    STOP = "stop"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Remedy:
    """Something to do about a cause. `requires` names the links further out that must have been looked at first."""

    text: str
    requires: tuple[Link, ...] = ()
    provisional: bool = False
    """True when a required look is missing: do that first."""
    patches: tuple[Patch, ...] = ()
    """The same as a change to the framework's configuration; several where its version is not known."""


@dataclass(frozen=True)
class Confirmation:
    """The smallest experiment that confirms or refutes a cause. `command` is None until firstbreak can run it."""

    experiment: str
    recipe: str
    command: str | None = None
    evidence: str = "controlled_run"
    """The kind of evidence it yields, one of `firstbreak.cause.EVIDENCE`."""


@dataclass(frozen=True)
class NotExcluded:
    """A cause at another link that the break may come from as well, and what to log to look for it."""

    cause: str
    link: Link
    log: tuple[str, ...]
    """Metrics, settings or events that the rules which would show it need."""


@dataclass(frozen=True)
class RankedCause:
    """A hypothesis with its score: what it explains, what rivals it, how to confirm it, what to do."""

    name: str
    summary: str
    link: Link
    component: Component
    score: float
    explains: tuple[str, ...]
    """Ids of the findings it explains."""
    against: tuple[str, ...] = ()
    """Names of rules that looked, were clear, and should have fired were this the cause."""
    rivals: tuple[str, ...] = ()
    separate_with: tuple[str, ...] = ()
    """Metrics or experiments that would tell it from its rivals."""
    not_excluded: tuple[NotExcluded, ...] = ()
    """Of the first cause: those that no rule could look for."""
    confirm_with: tuple[Confirmation, ...] = ()
    remedies: tuple[Remedy, ...] = ()


@dataclass(frozen=True)
class Skipped:
    """A rule that could not look, and what would let it."""

    rule: str
    name: str
    reason: str
    unlock_with: tuple[str, ...] = ()
    applies: bool = True
    """False when the rule does not concern this algorithm at all."""
    link: Link | None = None
    """That the rule looks at."""


@dataclass(frozen=True)
class Coverage:
    """What was looked at. `looked` counts rules that fired or were clear; `applicable` those that concern the run."""

    links: Mapping[Link, Sight]
    looked: int
    applicable: int
    skipped: tuple[Skipped, ...] = ()
    errors: tuple[tuple[str, str], ...] = ()
    """(rule name, message) of rules that failed: a fault of firstbreak, never a verdict."""
    unlock: tuple[tuple[str, int], ...] = ()
    """(metric or config key, number of rules it would unlock), most useful first."""
    profile_missing: tuple[str, ...] = ()
    """What stands between the run and a healthy verdict: what the algorithm's profile lacks, then `withheld`."""
    withheld: tuple[str, ...] = ()
    """Signs that a rule could neither prove nor clear, as sentences."""
    failed: tuple[Link, ...] = ()
    """Links with an error-level finding."""
    rules: Mapping[Link, tuple[int, int]] = field(default_factory=dict[Link, tuple[int, int]])
    """(rules that looked, rules that concern the run) of each link."""

    def well_seen(self, link: Link) -> bool:
        """Whether at least half of the rules of a link looked: enough to try a remedy further in."""
        looked, applicable = self.rules.get(link, (0, 0))
        return 0 < applicable <= 2 * looked


@dataclass(frozen=True)
class FirstBreak:
    """The link that broke first, and the finding that shows it."""

    link: Link
    component: Component
    scope: Scope
    rule: str
    name: str
    metric: str
    onset: Onset


@dataclass(frozen=True)
class Diagnosis:
    """Everything firstbreak says about one run."""

    log: RunLog
    verdict: Verdict
    first_break: FirstBreak | None
    causes: tuple[RankedCause, ...]
    findings: tuple[Finding, ...]
    """In order of onset; consequences carry `consequence_of`. Ignored findings are included, with their reason."""
    coverage: Coverage
    advice: Advice
    last_healthy_checkpoint: str | None = None
    confirm_with: tuple[Confirmation, ...] = ()
    """For an undecided run: what would decide it."""
    clear: tuple[str, ...] = ()
    """Names of rules that looked and were clear."""
    notes: tuple[str, ...] = field(default_factory=tuple[str, ...])
    tried: tuple[str, ...] = ()
    """What experiments recorded beside the run found, and what that did to the causes."""

    def __repr__(self) -> str:
        where = f" at {self.first_break.link}" if self.first_break else ""
        return f"<Diagnosis of {self.log.path}: {self.verdict}{where}, {len(self.findings)} findings>"

    def finding(self, finding_id: str) -> Finding:
        """Return the finding with this id."""
        return next(f for f in self.findings if f.id == finding_id)

    def to_dict(self) -> dict[str, Any]:
        """Return the run's entry of the JSON contract (docs/design.md, section 8)."""
        from .report.json import run_dict

        return run_dict(self)

    def _repr_html_(self) -> str:
        from .report.html import fragment

        return fragment(self)
