"""Away from the old policy the MMD term has a gradient."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..kernel_terms import terms

LEAST_FRAC = 1e-4
"""Below a ten-thousandth of the KL's pull a term has no say in the step."""


@check(
    "INV103",
    "mmd-term-without-gradient",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Let the MMD term's samples or parameters carry the new policy's gradient.",
    explained_by=("mmd-bandwidth-mismatch",),
)
@skips
def look(bench: Bench) -> Answer:
    """Away from the old policy the MMD term has a gradient.

    Measured: the gradient of the MMD term on the actor after a small nudge, over that of the KL term.

    Why it hurts: beta has no effect: the method is then a KL-regularised step and nothing else.

    Usual causes: samples of the new policy detached, the reference refreshed at every step, a bandwidth far off.

    What to try: change beta by 100 and compare two runs; they must differ.

    Harmless: with a beta next to 0 on purpose, or with one inner step per rollout.

    References: Gupta and Mahajan 2026, arXiv 2603.17875, eq. 6.2.
    """
    found = bench.once(terms)
    if found.mmd_gradient > LEAST_FRAC * max(found.kl_gradient, 1e-30):
        return None
    return Symptom(
        f"away from the old policy the MMD term is {found.mmd:.2g} and has a gradient of {found.mmd_gradient:.1e}",
        "losses",
        {"mmd_term": found.mmd, "mmd_gradient": found.mmd_gradient, "kl_gradient": found.kl_gradient},
    )
