"""All layers of the policy train."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import CONTINUOUS_Q, ON_POLICY, Bench, skips
from ..capture import named
from ..optimising import frozen_names


@check(
    "INV117",
    "policy-layers-frozen",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    fix="Set requires_grad back, or name the layers in settings['frozen'] where that is meant.",
)
@skips
def look(bench: Bench) -> Answer:
    """All layers of the policy train.

    Measured: weight matrices of the actor that no gradient can reach (requires_grad is off), while every layer of the
    critics trains, and nobody said that they are meant to stay.

    Why it hurts: the policy keeps the random features it began with, and learns a linear map on top of them; losses
    and ratios look as they should.

    Usual causes: requires_grad_(False) of a warm-up or of a transfer that was never taken back; a target network's
    freezing applied to the wrong module.

    What to try: print requires_grad of every parameter of the policy.

    Harmless: for a pretrained encoder that is kept; a feature extractor that actor and critic share is not counted.
    """
    bench.only(*ON_POLICY, *CONTINUOUS_Q)
    bench.need("actor", "critics")
    meant = frozen_names(bench)
    parameters = [(n, w) for n, w in named(bench.pieces) if w.dim() > 1 and n not in meant]
    of_critics = {id(w) for c in bench.pieces.critics for w in c.parameters()}
    actor = {id(w) for w in bench.pieces.actor.parameters()} if bench.pieces.actor is not None else set[int]()
    still = [n for n, w in parameters if id(w) in actor - of_critics and not w.requires_grad]
    if not still or any(not w.requires_grad for c in bench.pieces.critics for w in c.parameters()):
        return None
    of_actor = sum(id(w) in actor for _, w in parameters)
    return Symptom(
        f"{len(still)} of {of_actor} weight matrices of the policy cannot train, {still[0]} first; the critic's can",
        still[0],
        {"frozen_n": len(still), "matrices_n": of_actor},
    )
