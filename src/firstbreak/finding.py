"""What a rule says: links, severities, onsets and findings. A finding is a symptom, never a cause."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from .series import WHOLE_RUN, Confidence, Scope


class Link(StrEnum):
    """The links of the training loop, outermost first; `evaluation_protocol` stands beside the loop."""

    ENVIRONMENT_DATA = "environment_data"
    EVALUATION_PROTOCOL = "evaluation_protocol"
    REWARD_SIGNAL = "reward_signal"
    CRITIC = "critic"
    POLICY_UPDATE = "policy_update"
    EXPLORATION = "exploration"
    DATA_FRESHNESS = "data_freshness"
    NUMERICS = "numerics"
    SYSTEM_RESOURCES = "system_resources"


LOOP: tuple[Link, ...] = (
    Link.ENVIRONMENT_DATA,
    Link.REWARD_SIGNAL,
    Link.CRITIC,
    Link.POLICY_UPDATE,
    Link.EXPLORATION,
    Link.DATA_FRESHNESS,
    Link.NUMERICS,
    Link.SYSTEM_RESOURCES,
    Link.EVALUATION_PROTOCOL,
)
"""The order in which the loop is drawn and walked."""


class Component(StrEnum):
    """The piece of code or equipment a finding points at."""

    ROLLOUT = "rollout"
    ENVIRONMENT = "environment"
    REWARD = "reward"
    ADVANTAGE = "advantage"
    VALUE = "value"
    LOSS = "loss"
    LOSS_MASK = "loss_mask"
    OPTIMISER = "optimiser"
    SAMPLER = "sampler"
    NORMALISER = "normaliser"
    EVALUATION = "evaluation"
    LOGGING = "logging"
    SYSTEM = "system"


class Severity(StrEnum):
    """How much a finding matters. Any error makes the run broken; a warning makes it undecided at best."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """2 for error, 1 for warning, 0 for info."""
        return {"error": 2, "warning": 1, "info": 0}[self.value]


Number = float | int | str | bool
"""A value of the evidence table."""


@dataclass(frozen=True)
class Onset:
    """When it began: somewhere in [lo, hi] on `clock`, with probability `p`.

    `clock` is one of updates, env_steps, seconds, rows.
    """

    lo: float
    hi: float
    clock: str = "rows"
    p: float = 0.9

    @property
    def middle(self) -> float:
        """The centre of the interval."""
        return 0.5 * (self.lo + self.hi)


@dataclass(frozen=True)
class Detection:
    """What `rule.detect` returns when it fires; the engine turns it into a `Finding`.

    `message` has at most 120 characters and carries a number with its unit; `evidence` holds the numbers, their names
    ending in the unit. `metric` is the canonical metric that shows it; `severity` overrides the rule's own.
    """

    message: str
    onset: Onset
    metric: str
    evidence: dict[str, Number] = field(default_factory=dict[str, Number])
    severity: Severity | None = None
    excused_from: float = float("inf")
    """From where on something harmless explains it: what the rule said of it at earlier ticks is taken back."""


@dataclass(frozen=True)
class Skip:
    """What `rule.detect` returns when it cannot look: why, and which metrics or config keys would let it."""

    reason: str
    unlock_with: tuple[str, ...] = ()
    withholds: bool = False
    """True when the rule saw a sign that it can neither prove nor clear: such a run is not called healthy."""


@dataclass(frozen=True)
class Finding:
    """A rule that fired on a run: where in the loop, when, on what evidence."""

    rule: str
    name: str
    link: Link
    component: Component
    severity: Severity
    onset: Onset
    message: str
    metric: str
    evidence: dict[str, Number] = field(default_factory=dict[str, Number])
    scope: Scope = WHOLE_RUN
    confidence: Confidence = Confidence.EXACT
    static: bool = False
    params_hash: str = ""
    resolved_at: float | None = None
    consequence_of: str | None = None
    ignored: str = ""
    """The user's reason, when a suppression matches; an ignored finding counts for nothing but is shown."""

    @property
    def id(self) -> str:
        """A stable identifier within one run: the rule's code and, if any, its scope."""
        return f"{self.rule}[{self.scope}]" if self.scope != WHOLE_RUN else self.rule
