"""Reported cases: numbers that people posted, with the established cause. Scored in three figures.

Only `metrics` and `config` are given to firstbreak, under a shuffled id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firstbreak.api import diagnose_log
from firstbreak.config import Settings
from firstbreak.diagnosis import Diagnosis
from firstbreak.finding import Severity
from firstbreak.loading import load

CASES = Path(__file__).parents[1] / "data" / "cases" / "reported_cases.jsonl"
NAMED = 3
"""How many pieces of missing evidence an answer may name; more would be a list to pick from, not an answer."""

EVIDENCE_WORDS: tuple[tuple[str, frozenset[str]], ...] = (
    (r"isfinite|min/max", frozenset({"finite_check"})),
    (r"token ids|vocabulary", frozenset({"tokens"})),
    (r"pass counts", frozenset({"samples"})),
    (r"sample text", frozenset({"samples"})),
    (r"known score|base model", frozenset({"baseline_score"})),
    (r"A/B on one batch|noise floor|precision floor|per-timestep", frozenset({"fixed_batch"})),
    (r"^code", frozenset({"code"})),
    (r"grad norm|weight delta", frozenset({"metric"})),
    (r"zero-lr", frozenset({"zero_lr_run"})),
    (r"bisect", frozenset({"bisect"})),
    (r"trace", frozenset({"profile"})),
    (r"seed repeats", frozenset({"repeats"})),
)
"""What the cases' free text on extra evidence means in firstbreak's kinds of evidence."""


@dataclass(frozen=True)
class Case:
    """One reported case. `link` is `""` for a healthy one; `wants` are kinds of evidence, any of which settles it."""

    id: str
    metrics: dict[str, Any]
    config: dict[str, Any]
    link: str
    decidable: bool
    wants: frozenset[str]
    in_time: bool


def read_cases(tier: str = "A") -> list[Case]:
    """Return the cases of a tier, ids replaced by numbers."""
    rows = [json.loads(line) for line in CASES.read_text("utf-8").splitlines() if line.strip()]
    return [_case(i, row) for i, row in enumerate(rows) if row["tier"] == tier]


def _case(index: int, row: dict[str, Any]) -> Case:
    link = {"healthy": "", "reward_hacking": "reward_signal"}.get(row["loop_link"], row["loop_link"])
    wants = frozenset(
        k for pattern, kinds in EVIDENCE_WORDS if re.search(pattern, row["extra_evidence"]) for k in kinds
    )
    return Case(
        id=f"case-{(index * 37) % 101:03d}",
        metrics=row["metrics"],
        config=row["config"],
        link=link,
        decidable=row["decidable_from"] != "needs extra",
        wants=wants,
        in_time=row["x_is_time"],
    )


def answer(case: Case) -> Diagnosis:
    """Diagnose a case from its numbers and configuration alone."""
    return diagnose_log(load(case.metrics, config=case.config), Settings())


def first_link(diagnosis: Diagnosis) -> str:
    """Return the link named first: that of the first break, else that of the leading cause."""
    if diagnosis.first_break is not None:
        return diagnosis.first_break.link.value
    return diagnosis.causes[0].link.value if diagnosis.causes else ""


def named_evidence(diagnosis: Diagnosis) -> set[str]:
    """Return the kinds of evidence that the answer asks for, at most `NAMED`."""
    asked = [c.evidence for c in diagnosis.confirm_with]
    if not asked and diagnosis.causes:
        asked = [c.evidence for c in diagnosis.causes[0].confirm_with]
    return set(list(dict.fromkeys(asked))[:NAMED])


def has_error(diagnosis: Diagnosis) -> bool:
    """Whether any finding is at error level."""
    return any(f.severity is Severity.ERROR for f in diagnosis.findings)


@dataclass(frozen=True)
class Score:
    """Right answers out of all, with the ids of the wrong ones."""

    right: int
    total: int
    wrong: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.right}/{self.total}"


def score(diagnose: Callable[[Case], Diagnosis] = answer, tier: str = "A") -> dict[str, Score]:
    """Return the three figures: decidable and broken, extra evidence needed, healthy."""
    cases = read_cases(tier)
    answers = {c.id: diagnose(c) for c in cases}
    groups: dict[str, tuple[list[Case], Callable[[Case, Diagnosis], bool]]] = {
        "decidable": ([c for c in cases if c.link and c.decidable], lambda c, d: first_link(d) == c.link),
        "extra": ([c for c in cases if not c.decidable], lambda c, d: bool(c.wants & named_evidence(d))),
        "healthy": ([c for c in cases if not c.link], lambda _, d: not has_error(d)),
    }
    scores: dict[str, Score] = {}
    for name, (group, right) in groups.items():
        misses = tuple(c.id for c in group if not right(c, answers[c.id]))
        scores[name] = Score(len(group) - len(misses), len(group), misses)
    return scores
