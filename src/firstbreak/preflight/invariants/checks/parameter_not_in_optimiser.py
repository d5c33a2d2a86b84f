"""Every parameter that is to be trained is in an optimiser."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..capture import named
from ..optimising import frozen_names, held


@check(
    "INV001",
    "parameter-not-in-optimiser",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    fix="Build the optimiser from all parameters of actor and critic, after the networks are final.",
)
@skips
def look(bench: Bench) -> Answer:
    """Every parameter that is to be trained is in an optimiser.

    Measured: the parameters of actor, critics and temperature that ask for gradients, against those the optimisers
    hold.

    Why it hurts: what no optimiser holds keeps its first weights; the rest learns around a random part.

    Usual causes: an optimiser built from one module only, built before a head was added or replaced, or from the
    target network.

    What to try: build the optimiser from actor and critic together, after both are final; compare counts of
    parameters.

    Harmless: never, unless the parameter is meant to stay: then name it in settings['frozen'].
    """
    bench.need("optimisers")
    counts, frozen = held(bench), frozen_names(bench)
    rows = [(name, weight) for name, weight in named(bench.pieces) if weight.requires_grad and name not in frozen]
    lost = [name for name, weight in rows if id(weight) not in counts]
    if not lost:
        return None
    link = Link.CRITIC if all(name.startswith("critic") for name in lost) else Link.POLICY_UPDATE
    return Symptom(
        f"{len(lost)} of {len(rows)} trainable parameters are in no optimiser, {lost[0]} first",
        lost[0],
        {"missing_n": len(lost), "parameters_n": len(rows)},
        link=link,
    )
