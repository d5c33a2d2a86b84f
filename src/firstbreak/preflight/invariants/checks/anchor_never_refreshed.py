"""The old policy is the one that collected the rollout."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..kernel_terms import stale_anchor


@check(
    "INV108",
    "anchor-never-refreshed",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Copy the actor into the old policy when a rollout begins.",
    explained_by=("kl-term-without-gradient",),
)
@skips
def look(bench: Bench) -> Answer:
    """The old policy is the one that collected the rollout.

    Measured: the KL term on a fresh rollout after some rounds of training, before any step on it; it is 0 where the old
    policy has been refreshed.

    Why it hurts: KL and MMD hold the policy to where training began: it cannot go further than one step.

    Usual causes: the copy made in the constructor only; a copy of the reference instead of the weights.

    What to try: load the actor's weights into the old policy at the start of each rollout.

    Harmless: a fixed reference policy, which is another term and should have another name.

    References: Gupta and Mahajan 2026, arXiv 2603.17875, eq. 6.2.
    """
    found = bench.once(stale_anchor)
    if found.kl <= found.room:
        return None
    return Symptom(
        f"before the first inner step the KL to the old policy is {found.kl:.2g}, not 0: it was not refreshed",
        "losses.kl",
        {"kl": found.kl, "room": found.room},
    )
