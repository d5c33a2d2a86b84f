"""No optimiser holds parameters of the target network."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import OFF_POLICY, Bench, skips
from ..capture import named
from ..optimising import held


@check(
    "INV003",
    "target-network-optimised",
    link=Link.CRITIC,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    fix="Build the optimiser from the online network only.",
)
@skips
def look(bench: Bench) -> Answer:
    """No optimiser holds parameters of the target network.

    Measured: the parameters of the target networks that an optimiser holds.

    Why it hurts: the target would be trained, or the online network would not; the lag that keeps TD learning
    stable is gone.

    Usual causes: an optimiser built from the wrong network or from a container that holds both.

    What to try: build it from the online network's parameters; switch requires_grad off on the target.

    Harmless: never.

    References: Mnih et al. 2015, doi:10.1038/nature14236.
    """
    bench.only(*OFF_POLICY)
    bench.need("target_critics")
    counts = held(bench)
    online = {id(weight) for _, weight in named(bench.pieces)}
    weights = [w for target in bench.pieces.target_critics for w in target.parameters()]
    wrong = sum(counts.get(id(w), 0) > 0 and id(w) not in online for w in weights)
    if not wrong:
        return None
    return Symptom(
        f"{wrong} of {len(weights)} parameters of the target network are in an optimiser",
        "target_critics",
        {"parameters_n": wrong},
    )
