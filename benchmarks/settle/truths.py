"""The committed table of what is true: `truths.toml`, read and asked."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path

from firstbreak.experiments.result import Outcome

TABLE = Path(__file__).resolve().parent / "truths.toml"


class Truth(StrEnum):
    """What was planted makes a hypothesis true, false, or neither."""

    TRUE = "true"
    FALSE = "false"
    OPEN = "open"


class Verdict(StrEnum):
    """What a pair of run and experiment came to."""

    RIGHT = "right"
    WRONG_CONFIRMED = "wrong confirmed"
    WRONG_REFUTED = "wrong refuted"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Known:
    """What is known of one experiment's hypothesis."""

    name: str
    otherwise: str = ""
    means: str = ""
    true: Mapping[str, str] = field(default_factory=dict[str, str])
    false: Mapping[str, str] = field(default_factory=dict[str, str])
    open: Mapping[str, str] = field(default_factory=dict[str, str])
    open_always: str = ""
    from_start: str = ""
    """Why it is false of whatever was on from the first step, where that makes it so."""

    def of(self, subject: str, task: str, what: str, midway: bool = False) -> tuple[Truth, str]:
        """Return what holds in a run, and why; `midway` says that what was planted was switched on during the run."""
        if self.open_always:
            return Truth.OPEN, self.open_always
        if self.from_start and not midway:
            return Truth.FALSE, self.from_start
        for key in (f"{what}@{subject}", what, f"@{subject}:{task}"):
            for truth in Truth:
                held: Mapping[str, str] = getattr(self, truth.value)
                if key in held:
                    return truth, held[key]
        return Truth.FALSE, self.otherwise


@cache
def table() -> Mapping[str, Known]:
    """Return the table by experiment."""
    listed = tomllib.loads(TABLE.read_text("utf-8"))["experiment"]
    return {one["name"]: Known(**one) for one in listed}


def judged(truth: Truth, outcome: Outcome) -> Verdict:
    """Return what a verdict is worth; only a truth that is settled can be asked about.

    Raises:
        ValueError: nothing is known of the hypothesis.
    """
    if truth is Truth.OPEN:
        raise ValueError("nothing settles this hypothesis")
    if outcome is Outcome.INCONCLUSIVE:
        return Verdict.INCONCLUSIVE
    if (outcome is Outcome.CONFIRMED) is (truth is Truth.TRUE):
        return Verdict.RIGHT
    return Verdict.WRONG_CONFIRMED if outcome is Outcome.CONFIRMED else Verdict.WRONG_REFUTED
