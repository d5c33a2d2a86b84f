"""The rule `exploration-leaves-past`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link
from firstbreak.leaving import leaves_past, metrics_of
from firstbreak.rule import Answer, Status, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """`exploration-leaves-past` has no thresholds of its own: they stand in `firstbreak.leaving` and its table."""


SAC = synth.like("SAC")
SPREAD = "policy/action_std"
USUAL = synth.flat(0.5, 0.01)
CASES = (
    fires("a spread that vanishes", lambda: SAC({SPREAD: synth.after(0.6, synth.flat(0.002, 0.01), USUAL)})),
    healthy("as ever", lambda: SAC({SPREAD: USUAL})),
    near_miss("one odd row", lambda: SAC({SPREAD: synth.spikes(0.5, 5.0, (0.6,))})),
    near_miss("a spread that shrinks as the policy learns", lambda: SAC({SPREAD: synth.geometric(0.8, 0.1)})),
)


@rule(
    "EXP066",
    "exploration-leaves-past",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    any_of=(metrics_of(Link.EXPLORATION),),
    params=Params(),
    cases=CASES,
    # Names one fault of five live lists in time that no other rule names, and warns on two of 122 healthy runs of the
    # half of the fault benchmark that its limits were not set with (2026-11-26).
    status=Status.PREVIEW,
)
def detect(view: RunView, params: Params) -> Answer:
    """How the policy explores leaves its own past further than in any healthy run, and nothing further out does.

    What it means:
        A metric lies several ranges of what it did in the second half of its past outside of it, in six values on end,
        or moved within eight values several times as far as ever before; further than in any of some 1,200 recorded
        healthy runs and beginnings, with room to spare.
        A metric of exploration was the first to leave; nothing of the environment, critic or update left with it.
        It says that something is unlike all of them, not what. Rewards, returns, advantages and lengths are not asked:
        they follow from everything.

    Why it matters:
        What is not tried is not learned, and what is tried at random teaches nothing of the policy.

    Usual causes:
        A temperature, bonus or noise that changed; weights of the policy's spread that were overwritten.

    What to try:
        Print the spread of the policy's actions in one fixed state before and after that step.

    When it is harmless:
        A schedule that you set for that step.

    References:
        Page 1954, "Continuous Inspection Schemes"; Basseville and Nikiforov 1993, "Detection of Abrupt Changes": a
        process against its own past. Hill 1975, doi:10.1214/aos/1176343247: how far the next healthy run may go.
    """
    return leaves_past(view, Link.EXPLORATION)
