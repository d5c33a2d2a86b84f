"""What was learnt about a verifier: the subject of its checks. Plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from .rates import Rate, clustered_rate
from .rows import Question

TRYING = ("near", "anywhere", "prompt", "format", "given-wrong", "tampering")
"""Families of wrong responses that try to be paid; they make the false-positive rate."""


@dataclass(frozen=True)
class Trial:
    """One response and what the verifier made of it."""

    row: int
    family: str
    form: str
    right: bool | None
    value: float
    how: str
    """ok, none, nan, text, other, count, raised; hung, died or memory where the process had to be given up."""
    note: str
    seconds: float
    response: str
    """Its first 2,000 characters."""
    characters: int


@dataclass(frozen=True)
class Audit:
    """Everything that was asked, and how it ended."""

    target: str
    style: str
    questions: tuple[Question, ...]
    own_data: bool
    """Whether the questions are the user's."""
    mark: float = 0.5
    """Scores from here on count as passed."""
    shares: Mapping[str, float] = field(default_factory=dict[str, float])
    """Frame -> share of rows whose right answer passed."""
    accepted: tuple[str, ...] = ()
    trials: tuple[Trial, ...] = ()
    watched: tuple[tuple[str, int, str], ...] = ()
    """(refused or passed, row, exception seen inside or "") of the trials that were asked again."""
    fooled: tuple[tuple[int, str], ...] = ()
    """(row, shortest wrong response found that passes)."""
    universal: tuple[str, int, int] | None = None
    """(text, rows it fools, rows tried) of the shortest text found that passes in most rows."""
    replays: tuple[Mapping[str, tuple[float, ...]], ...] = ()
    """Of two fresh processes: pass -> scores of the same responses [n]."""
    replayed_rows: tuple[int, ...] = ()
    batch_note: str = ""
    """What went wrong with several responses in one call."""
    calls: int = 0
    partial: bool = False
    printed_bytes: int = 0
    leftovers: bool = False
    """Whether processes outlived the verifier's own, or it came back from a call twice."""
    refused_to_start: str = ""
    """Why nothing could be asked."""

    def passed(self, trial: Trial) -> bool:
        """Whether the verifier paid for it."""
        return trial.how == "ok" and trial.value >= self.mark

    def of(self, *families: str) -> list[Trial]:
        """Return the trials of these families."""
        return [t for t in self.trials if t.family in families]

    def where(self, *hows: str) -> list[Trial]:
        """Return the trials that ended in one of these ways."""
        return [t for t in self.trials if t.how in hows]

    def rate(self, trials: list[Trial], hit: Callable[[Trial], bool] | None = None) -> Rate:
        """Return the rate of trials that passed, or of those for which `hit` holds."""
        return clustered_rate((t.row, (hit or self.passed)(t)) for t in trials)

    @cached_property
    def span(self) -> float:
        """Distance between the median scores of right answers and of nonsense; 1 where it cannot be told."""
        right = sorted(t.value for t in self.of("right") if t.how == "ok" and t.value >= self.mark)
        wrong = sorted(t.value for t in self.of("nonsense") if t.how == "ok" and t.value < self.mark)
        if not right or not wrong:
            return 1.0
        return max(right[len(right) // 2] - wrong[len(wrong) // 2], 1e-12)

    @property
    def usable(self) -> bool:
        """Whether the verifier understands any way of giving the right answer."""
        return bool(self.accepted)

    @cached_property
    def false_positives(self) -> Rate:
        """The share of wrong responses that try to be paid and are."""
        return self.rate(self.of(*TRYING))

    @cached_property
    def false_negatives(self) -> Rate:
        """The share of right answers, written in ways that say the same, that are refused."""
        return self.rate(self.of("equal", "given-right"), lambda t: not self.passed(t))
