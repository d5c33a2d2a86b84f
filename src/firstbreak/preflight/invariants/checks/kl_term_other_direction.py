"""The KL that holds a step back is that of the new policy to the old one."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..kernel_terms import kl_direction

SAME, OTHER = 0.9999, 0.999
"""Cosines. The used gradient is one of the two to rounding, or it is neither; and the two must differ to be told."""


@check(
    "INV114",
    "kl-term-other-direction",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    fix="Use KL(pi | pi_k): the expectation is over the new policy.",
    explained_by=("kl-term-wrong-sign", "kl-term-without-gradient"),
)
@skips
def look(bench: Bench) -> Answer:
    """The KL that holds a step back is that of the new policy to the old one.

    Measured: the gradient of the KL term, the actor moved away from the old policy, against the gradients of both
    directions summed over all actions.

    Why it hurts: the update of MM-RKHS is the minimiser with KL(pi | pi_k); with the other direction it is another
    algorithm: actions that the old policy takes are kept alive, and the weights found for the method mean something
    else.

    Usual causes: the arguments of kl_divergence exchanged; PyTorch's kl_div, which takes them the other way round.

    What to try: kl_divergence(new, old).

    Harmless: as a choice of one's own; in PPO's penalty the other direction is the usual one, and this is not asked.

    References: Gupta and Mahajan 2026, arXiv 2603.17875, eq. 6.2.
    """
    found = bench.once(kl_direction)
    if found.between > OTHER or found.backward < SAME or found.forward > OTHER:
        return None
    return Symptom(
        f"the KL term is KL(old | new): cosine of gradients {found.backward:.4f}; KL(new | old): {found.forward:.4f}",
        "losses.kl",
        {"backward_cosine": found.backward, "forward_cosine": found.forward},
    )
