"""The reference follows the policy: they share weights, or an update of the policy moves it."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..noise import reference_move


@check(
    "TOK050",
    "reference-is-the-policy",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Copy the weights of the reference once, and never step or tie them.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """The reference follows the policy: they share weights, or an update of the policy moves it.

    Measured: weights that reference and policy share, and the change of the reference's log-probs when the
    policy's weights are moved.

    Why it hurts: the KL is always 0 and holds nothing back.

    Usual causes: the same object used twice; a shallow copy; an adapter that is left on for the reference.

    What to try: the reference log-probs of one batch must be the same after a step.

    Harmless: when the reference is meant to follow (TR-DPO, periodic resets).
    """
    found = bench.once(reference_move)
    if found.shared_weights:
        return Symptom(
            f"{found.shared_weights} weights of the reference are those of the policy",
            "reference",
            {"shared_weights": found.shared_weights},
        )
    if found.moved_nats is None or found.moved_nats <= 1e-6:
        return None
    return Symptom(
        f"moving the policy's weights moves the reference's log-probs by up to {found.moved_nats:.2g} nats",
        "reference",
        {"moved_nats": found.moved_nats},
    )
