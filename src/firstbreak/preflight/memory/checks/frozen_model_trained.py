"""The check `frozen-model-trained`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..amounts import gib
from ..ledger import Ledger


@check(
    "PME008",
    "frozen-model-trained",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    fix="Set trained = false for the reference and the reward model, and requires_grad_(False) in the code.",
)
def look(table: Ledger) -> Answer:
    """The reference or the reward model is planned with gradients and optimiser states.

    What is measured:
        Whether a model in the role of reference or reward is marked as trained, and the bytes this costs.

    Why it hurts:
        A reference that moves anchors nothing, and a reward model that moves pays for what it likes; and both cost
        eight times their weights.

    Usual causes:
        One function builds all four models; all parameters are given to the optimiser.

    What to try:
        Count the parameters with requires_grad in each model.

    When it is harmless:
        A reward model that is trained along on purpose.

    References:
        Ouyang et al. 2022, arXiv 2203.02155: both are fixed during the RL phase.
    """
    frozen = [m for m in table.plan.models if m.role in ("reference", "reward")]
    if not frozen:
        return Skip("the plan has no reference and no reward model")
    trained = [m.role for m in frozen if m.trained]
    if not trained:
        return None
    extra = sum(
        e.size_bytes
        for e in table.entries
        if e.model in trained and e.item in ("gradients", "optimiser", "activations")
    )
    return Symptom(
        f"{' and '.join(trained)}: planned as trained, {gib(extra)} of gradients, optimiser and activations",
        trained[0],
        {"models": len(trained), "extra_bytes": extra},
    )
