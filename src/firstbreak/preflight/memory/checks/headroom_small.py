"""The check `headroom-small`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..amounts import gib
from ..ledger import Ledger

HEADROOM = 0.1
"""The ledger's own error on activations is of this size, and batches differ in length."""


@check(
    "PME003",
    "headroom-small",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    severity=Severity.WARNING,
    fix="Free a tenth of the GPU with the first change of the list, and try one update with the longest sequences.",
)
def look(table: Ledger) -> Answer:
    """The plan fits with less than a tenth of the GPU to spare.

    What is measured:
        The expected peak of the worst phase, fragmentation and context included, against the GPU.

    Why it hurts:
        The longest batch of a run comes late; running out of memory after a day costs more than a smaller batch.

    Usual causes:
        A micro-batch chosen by trying the first step; a share of the engine that takes what is left.

    What to try:
        A dry run of one update in which every sequence has the maximum length.

    When it is harmless:
        When lengths are fixed and a dry run passed.

    References:
        Engineering default: 10 % of the GPU, the size of the ledger's own error.
    """
    plan = table.plan
    left = plan.gpu_bytes - table.worst_bytes
    if left < 0 or left >= HEADROOM * plan.gpu_bytes:
        return None
    return Symptom(
        f"{table.worst} leaves {gib(left)} of {gib(plan.gpu_bytes)} ({100 * left / plan.gpu_bytes:.0f} %)",
        table.worst,
        {"left_bytes": left, "peak_bytes": table.worst_bytes, "gpu_bytes": plan.gpu_bytes},
    )
