"""The rule `policy-leaves-past`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link
from firstbreak.leaving import leaves_past, metrics_of
from firstbreak.rule import Answer, Status, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """`policy-leaves-past` has no thresholds of its own: they stand in `firstbreak.leaving` and its table."""


PPO = synth.like("PPO")
ESS = "policy/ess"
USUAL = synth.flat(0.95, 0.01)
CASES = (
    fires("few samples that still count", lambda: PPO({ESS: synth.after(0.6, synth.flat(0.3, 0.05), USUAL)})),
    healthy("as ever", lambda: PPO({ESS: USUAL})),
    near_miss("one odd row", lambda: PPO({ESS: synth.spikes(0.95, 0.3, (0.6,))})),
    near_miss("a little fewer", lambda: PPO({ESS: synth.jump(0.95, 0.9, 0.6)})),
)


@rule(
    "POL125",
    "policy-leaves-past",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    any_of=(metrics_of(Link.POLICY_UPDATE),),
    params=Params(),
    cases=CASES,
    # Names one fault of five live lists in time that no other rule names, and warns on two of 122 healthy runs of the
    # half of the fault benchmark that its limits were not set with (2026-11-26).
    status=Status.PREVIEW,
)
def detect(view: RunView, params: Params) -> Answer:
    """An update's step leaves its own past further than in any healthy run, and nothing further out does.

    What it means:
        A metric lies several ranges of what it did in the second half of its past outside of it, in six values on end,
        or moved within eight values several times as far as ever before; further than in any of some 1,200 recorded
        healthy runs and beginnings, with room to spare.
        A metric of the policy's update was the first to leave, or left together with the first.
        It says that something is unlike all of them, not what. Rewards, returns, advantages and lengths are not asked:
        they follow from everything.

    Why it matters:
        Steps unlike all before them undo what was learned, or are taken from data that is not the policy's own.

    Usual causes:
        A sign, rate or optimiser that changed; weights that were overwritten or cut; rollouts of another policy.

    What to try:
        Hold the first minibatch's ratios against 1, and the size of a step against the rate, before and after then.

    When it is harmless:
        A rate, clip range or number of epochs that you raised on purpose.

    References:
        Page 1954, "Continuous Inspection Schemes"; Basseville and Nikiforov 1993, "Detection of Abrupt Changes": a
        process against its own past. Hill 1975, doi:10.1214/aos/1176343247: how far the next healthy run may go.
    """
    return leaves_past(view, Link.POLICY_UPDATE)
