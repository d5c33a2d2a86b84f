"""The target network has weights of its own."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import OFF_POLICY, Bench, skips


@check(
    "INV005",
    "target-network-aliased",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Make the target a deep copy of the online network.",
)
@skips
def look(bench: Bench) -> Answer:
    """The target network has weights of its own.

    Measured: whether any weight of the target lies in the same memory as one of the online network.

    Why it hurts: a target that is the online network chases itself; there is no lag.

    Usual causes: target = online without a copy, or a shallow copy.

    What to try: use copy.deepcopy, and switch requires_grad off on the copy.

    Harmless: a frozen encoder shared on purpose.

    References: Mnih et al. 2015, doi:10.1038/nature14236.
    """
    bench.only(*OFF_POLICY)
    bench.need("target_critics", "critics")
    online = {w.data_ptr() for critic in bench.pieces.critics for w in critic.parameters()}
    weights = [w for target in bench.pieces.target_critics for w in target.parameters()]
    shared = sum(w.data_ptr() in online for w in weights)
    if not shared:
        return None
    return Symptom(
        f"{shared} of {len(weights)} tensors of the target network are those of the online network",
        "target_critics",
        {"tensors_n": shared},
    )
