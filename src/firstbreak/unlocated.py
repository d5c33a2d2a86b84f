"""Symptoms that any link of the loop can leave: alone they say that something is wrong, and not where.

A return that never moves could be laid to the reward, or to exploration where the policy stays random as well, only
because it is measured there. Counted over ordinary logs (lists one to four, 2026-11-26): these symptoms alone named the
right link in no run of a learner from replayed data and in no run whose entropy stood still, and another one in ten
runs. Of other learners a return that stood still alone named the right link in one run and another one in one. It is
a note for that reason, and for another: a sound training that is too short for its task looks alike.

A return that falls steadily from the start is measured there, too. Of 4,820 recorded trainings (fault benchmark, GRPO,
live lists, ordinary logs, 2026-11-26) it was told of seven: six faulty ones, in one of which the reward may be held
right as well, and a healthy one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .finding import Finding, Severity
from .runlog import RunLog
from .vocabulary import traits_of

FLAT = "reward-flat"
LATE = "past_half"
"""Evidence of `reward-flat`: whether half of the configured steps had passed. Before that, it says nothing yet."""
RANDOM = "entropy-stuck-high"
"""It asks for a return that stands still as well."""
FALLING = "smooth-decline"
UNPLACED = "the return stands still, as any link can cause"
UNPLACED_FALLING = "the return falls steadily, as any link can cause"
UNPLACED_RANDOM = "policy and return stay as at the start, as any link can cause"


def unlocated(findings: Sequence[Finding], log: RunLog) -> tuple[list[Finding], tuple[str, ...]]:
    """Return the findings and what keeps the run undecided: a symptom with nothing beside it points to no link."""
    active = [f for f in findings if not f.ignored]
    loud = [f for f in active if f.severity is not Severity.INFO]
    names = {f.name for f in loud}
    if not names:
        still = any(f.name == FLAT and f.evidence.get(LATE) for f in active)
        falls = any(f.name == FALLING and f.resolved_at is None for f in active)
        return list(findings), (*((UNPLACED,) if still else ()), *((UNPLACED_FALLING,) if falls else ()))
    if RANDOM not in names or not names <= {FLAT, RANDOM} or "control" not in traits_of(log.algorithm):
        return list(findings), ()
    calm = [replace(f, severity=Severity.INFO) if f in loud else f for f in findings]
    return calm, (UNPLACED_RANDOM,)
