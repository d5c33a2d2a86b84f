"""Advice on a run that is still going, and what would decide an undecided one."""

from __future__ import annotations

from collections.abc import Sequence

from .diagnosis import Advice, Confirmation, Coverage, Sight, Verdict
from .finding import Finding, Link, Severity
from .runlog import RunLog
from .vocabulary import traits_of


def advise(log: RunLog, verdict: Verdict, active: Sequence[Finding]) -> Advice:
    """Return stop, continue or cannot tell. Stop only for an error that has not passed."""
    lasting = [f for f in active if f.severity is Severity.ERROR and f.resolved_at is None]
    if verdict is Verdict.BROKEN:
        return Advice.STOP if lasting else Advice.CANNOT_TELL
    return Advice.CONTINUE if verdict is Verdict.HEALTHY else Advice.CANNOT_TELL


def confirmations_for(log: RunLog, coverage: Coverage) -> tuple[Confirmation, ...]:
    """Return the looks that an undecided run calls for, from the outside in."""
    language = "language" in traits_of(log.algorithm) or any(m.startswith(("seq/", "group/")) for m in log.metrics)
    looks: list[Confirmation] = []
    if any(m.startswith("async/") for m in log.metrics):
        looks.append(
            Confirmation(
                "zero learning rate",
                "Run with learning rate 0: any gap or drift that remains is sync or numerics, not learning.",
                evidence="zero_lr_run",
            )
        )
    if any(m.startswith(("perf/", "system/")) for m in log.metrics):
        looks.append(
            Confirmation(
                "phase trace", "Record a time trace of one step: generation, reward, update, sync.", evidence="profile"
            )
        )
    if language:
        looks.append(
            Confirmation(
                "read samples",
                "Read twenty raw samples with the scorer's output and their stop reason.",
                evidence="samples",
            )
        )
    looks.append(
        Confirmation(
            "baseline score",
            "Score the untrained model (or a random and an expert policy) under the same protocol.",
            evidence="baseline_score",
        )
    )
    if (
        coverage.links[Link.ENVIRONMENT_DATA] is not Sight.LOOKED
        or coverage.links[Link.REWARD_SIGNAL] is not Sight.LOOKED
    ):
        looks.append(
            Confirmation(
                "finite check per term",
                "Log isfinite, minimum and maximum of observations and of each reward term.",
                evidence="finite_check",
            )
        )
    if not language:
        looks.append(
            Confirmation(
                "invariants of the loss",
                "On one recorded batch: ratio 1 at the first minibatch, zero advantage, zero gradient, critic moves.",
                evidence="code",
            )
        )
    looks.append(
        Confirmation("repeat with other seeds", "Repeat with two more seeds before comparing arms.", evidence="repeats")
    )
    return tuple(looks)
