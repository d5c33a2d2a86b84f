"""How a rule of the gate ends, and the verdict over all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from .evidence import Evidence


class Ruled(StrEnum):
    """How one rule ends."""

    GOOD = "good"
    BAD = "bad"
    MISSING = "missing"
    NOT_ASKED = "not asked"


class Outcome(StrEnum):
    """The verdict of the gate."""

    GO = "go"
    NO_GO = "no-go"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Ruling:
    """What one rule says, and what would decide it where something is missing."""

    ruled: Ruled
    text: str
    give: str = ""


@dataclass(frozen=True)
class GateRule:
    """One question of the gate; `name` in kebab case."""

    name: str
    question: str
    judge: Callable[[Evidence], Ruling]


def good(text: str) -> Ruling:
    """The question has the answer that a release needs."""
    return Ruling(Ruled.GOOD, text)


def bad(text: str) -> Ruling:
    """The answer forbids a release."""
    return Ruling(Ruled.BAD, text)


def missing(text: str, give: str) -> Ruling:
    """The question cannot be answered; `give` is what would answer it."""
    return Ruling(Ruled.MISSING, text, give)


def not_asked(text: str) -> Ruling:
    """The question does not concern this release."""
    return Ruling(Ruled.NOT_ASKED, text)


def decide(ruled: Iterable[Ruled]) -> Outcome:
    """Return no-go if any rule is bad, undecided if any is missing or none was good, else go."""
    all_of = list(ruled)
    if Ruled.BAD in all_of:
        return Outcome.NO_GO
    if Ruled.MISSING in all_of or Ruled.GOOD not in all_of:
        return Outcome.UNDECIDED
    return Outcome.GO
