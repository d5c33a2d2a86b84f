"""The rule `critic-leaves-past`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link
from firstbreak.leaving import leaves_past, metrics_of
from firstbreak.rule import Answer, Status, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """`critic-leaves-past` has no thresholds of its own: they stand in `firstbreak.leaving` and its table."""


SAC = synth.like("SAC")
VALUES = "critic/q_mean"
USUAL = synth.flat(10.0, 0.02)
CASES = (
    fires("values that take off", lambda: SAC({VALUES: synth.after(0.6, synth.flat(400.0), USUAL)})),
    healthy("as ever", lambda: SAC({VALUES: USUAL})),
    near_miss("values that grow as they are learned", lambda: SAC({VALUES: synth.ramp(1.0, 50.0)})),
    near_miss("one odd row", lambda: SAC({VALUES: synth.spikes(10.0, 400.0, (0.6,))})),
    near_miss("values that grow by a quarter", lambda: SAC({VALUES: synth.jump(10.0, 12.5, 0.6)})),
)


@rule(
    "CRT050",
    "critic-leaves-past",
    link=Link.CRITIC,
    component=Component.VALUE,
    any_of=(metrics_of(Link.CRITIC),),
    params=Params(),
    cases=CASES,
    # Names one fault of five live lists in time that no other rule names, and warns on two of 122 healthy runs of the
    # half of the fault benchmark that its limits were not set with (2026-11-26).
    status=Status.PREVIEW,
)
def detect(view: RunView, params: Params) -> Answer:
    """Values or their errors leave their own past further than in any healthy run, and nothing further out does.

    What it means:
        A metric lies several ranges of what it did in the second half of its past outside of it, in six values on end,
        or moved within eight values several times as far as ever before; further than in any of some 1,200 recorded
        healthy runs and beginnings, with room to spare.
        A metric of the critic was the first to leave, or left together with the first.
        It says that something is unlike all of them, not what. Rewards, returns, advantages and lengths are not asked:
        they follow from everything.

    Why it matters:
        Advantages and Q-values of a critic that is suddenly another push the policy somewhere at random.

    Usual causes:
        Targets of other rows, of another discount, bootstrap or network; a critic whose optimiser or weights were lost.

    What to try:
        Log the critic on one fixed batch before and after that step, and its targets beside it.

    When it is harmless:
        Resets of the critic on purpose; a reward that you rescaled.

    References:
        Page 1954, "Continuous Inspection Schemes"; Basseville and Nikiforov 1993, "Detection of Abrupt Changes": a
        process against its own past. Hill 1975, doi:10.1214/aos/1176343247: how far the next healthy run may go.
    """
    return leaves_past(view, Link.CRITIC)
