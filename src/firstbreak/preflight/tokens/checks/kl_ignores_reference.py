"""The gradient of the KL term does not depend on the reference."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..noise import MOVED
from ..terms import kl_pull


@check(
    "TOK053",
    "kl-ignores-reference",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Use k2 or k3 as a loss, or k1 in the reward; k1 as a loss has no expected gradient.",
    explained_by=(
        "loss-without-token-gradient",
        "reference-logprobs-carry-gradient",
        "reference-is-the-policy",
    ),
)
@skips
def look(bench: TokenBench) -> Answer:
    """The gradient of the KL term does not depend on the reference.

    Measured: the change of the gradient at advantages of 0 when the reference log-probs are moved by 0.3 nats,
    over that of the advantages.

    Why it hurts: the term costs nothing and holds nothing back: its expected gradient is 0.

    Usual causes: log p - log p_ref used as a loss (k1); the reference detached from the wrong side; a
    coefficient of 0.

    What to try: with a large coefficient and no reward the policy must return to the reference.

    Harmless: never, if a KL coefficient is set.

    References: Tang and Munos 2025, arXiv 2506.09477; Liu et al. 2025, arXiv 2510.01555.
    """
    found = bench.once(kl_pull)
    if found.moved >= MOVED:
        return None
    k1 = found.at_reference > MOVED
    what = "it is the same wherever the reference is (k1)" if k1 else "it is 0"
    return Symptom(
        f"moving the reference 0.3 nats changes the gradient of the KL by {found.moved:.0%}: {what}",
        "loss",
        {"change_frac": found.moved, "gradient_at_reference_frac": found.at_reference},
    )
