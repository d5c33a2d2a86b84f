"""A recurrent policy forgets at the end of an episode."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..memory import carried, recurrent

KEPT = 1e-6
"""Change of the outputs, as a share of their spread, that rounding may leave."""


@check(
    "INV107",
    "memory-crosses-episodes",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    fix="Multiply the hidden state by (1 - done) before the first step of each episode, in rollouts and in the loss.",
)
@skips
def look(bench: Bench) -> Answer:
    """A recurrent policy forgets at the end of an episode, and not before.

    Measured: what the piece `sequence` puts out for 8 steps of 4 environments, two of which begin a new episode in the
    middle, before and after the observations of the first half are replaced. Outputs after a beginning must not change;
    those within an episode must. Networks without recurrent layers are not concerned.

    Why it hurts: the policy acts on what happened in another episode, which it never sees at evaluation; ratios and
    values of the first steps are those of another state.

    Usual causes: the hidden state not masked by done, masked one step late, reset for all environments when one ends;
    sequences cut at rollout borders and put together again in another order.

    What to try: print the hidden state at the first step of two episodes; they must be the same.

    Harmless: memory over episodes on purpose (RL squared); leave the piece out, or mark only the first step of a trial.

    References: Hausknecht & Stone 2015, arXiv 1507.06527; Duan et al. 2016, arXiv 1611.02779 (on purpose).
    """
    if not recurrent(bench.pieces) and bench.pieces.sequence is None:
        return Skip("the networks have no recurrent layers")
    found = bench.once(carried)
    if found.across_frac > KEPT:
        return Symptom(
            f"observations before an episode's end change outputs after it by {found.across_frac:.2g} of their spread",
            "sequence",
            {"changed_frac": found.across_frac, "within_frac": found.within_frac},
        )
    if found.within_frac == 0.0:
        return Symptom(
            "observations up to 4 steps ago change nothing within an episode: memory is not carried",
            "sequence",
            {"changed_frac": 0.0, "within_frac": 0.0},
            severity=Severity.WARNING,
        )
    return None
