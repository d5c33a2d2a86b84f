"""The check `plan-does-not-fit`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..amounts import gib
from ..ledger import Ledger
from ..remedies import remedies


@check(
    "PME002",
    "plan-does-not-fit",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    severity=Severity.ERROR,
    fix="Make the first change of the list that makes it fit; it is ordered by bytes saved for their cost.",
    explained_by=("engine-leaves-no-room",),
)
def look(table: Ledger) -> Answer:
    """The plan needs more memory in some phase than a GPU has.

    What is measured:
        The peak of each phase (rollout, scoring, the update of each model). An error when even the lower end of every
        row, without fragmentation, is above the GPU; a warning when only the expected peak is.

    Why it hurts:
        The run ends at the first update, or at the first batch of long sequences hours later.

    Usual causes:
        Optimiser states on every GPU; logits of the whole vocabulary; activations without checkpointing; four models
        resident at a time.

    What to try:
        The list of changes in the details; then a dry run of one update with the longest sequences.

    When it is harmless:
        Never as an error. As a warning, when a dry run with the longest sequences passed.

    References:
        Rajbhandari et al. 2019, arXiv 1910.02054; Korthikanti et al. 2022, arXiv 2205.05198.
    """
    plan, phase = table.plan, table.worst
    peak, least = table.peak(phase), max(table.least(p) for p in table.phases)
    if peak <= plan.gpu_bytes:
        return None
    first = next((r.name for r in remedies(plan) if r.fits), "no single change is enough")
    sure = least > plan.gpu_bytes
    return Symptom(
        f"{phase} needs {gib(peak)} of {gib(plan.gpu_bytes)}; first: {first}",
        phase,
        {"peak_bytes": peak, "at_least_bytes": least, "gpu_bytes": plan.gpu_bytes},
        severity=None if sure else Severity.WARNING,
    )
