"""A parameter is in exactly one optimiser and is stepped once per update."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..capture import named
from ..optimising import held, two_updates


@check(
    "INV002",
    "parameter-optimised-twice",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    fix="Give each optimiser only the parameters of its own loss and step it once per update.",
)
@skips
def look(bench: Bench) -> Answer:
    """A parameter is in exactly one optimiser and is stepped once per update.

    Measured: how often each parameter occurs in the optimisers, and how often it is stepped in one update on one
    minibatch.

    Why it hurts: two optimisers fight over the weight with moments of their own, and one loss moves what another is
    to train.

    Usual causes: the actor's optimiser holds the critic as well; two optimisers over the whole model; a second
    step() call.

    What to try: give each optimiser the parameters of its own loss; freeze the critic while the actor's loss is
    taken.

    Harmless: a shared trunk that two optimisers step on purpose; then expect their learning rates to add up.
    """
    counts = held(bench)
    twice = [name for name, weight in named(bench.pieces) if counts.get(id(weight), 0) > 1]
    if twice:
        return Symptom(
            f"{len(twice)} parameters are in the optimisers twice, {twice[0]} first",
            twice[0],
            {"parameters_n": len(twice)},
        )
    found = bench.once(two_updates)
    if found.times <= 1:
        return None
    return Symptom(
        f"{found.most} is stepped {found.times} times in one update of one minibatch",
        found.most,
        {"steps_n": found.times},
    )
