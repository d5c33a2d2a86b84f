"""The rule `environment-leaves-past`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link
from firstbreak.leaving import leaves_past, metrics_of
from firstbreak.rule import Answer, Status, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """`environment-leaves-past` has no thresholds of its own: they stand in `firstbreak.leaving` and its table."""


PPO = synth.like("PPO")
RESPONSE = "env/action_response"
USUAL = synth.flat(0.9, 0.02)
CASES = (
    fires("actions do less and less", lambda: PPO({RESPONSE: synth.after(0.6, synth.flat(0.1, 0.1), USUAL)})),
    healthy("as ever", lambda: PPO({RESPONSE: USUAL})),
    near_miss("one odd row", lambda: PPO({RESPONSE: synth.spikes(0.9, -0.9, (0.6,))})),
    near_miss("a little less, as where a policy goes", lambda: PPO({RESPONSE: synth.jump(0.9, 0.87, 0.6)})),
)


@rule(
    "ENV105",
    "environment-leaves-past",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    any_of=(metrics_of(Link.ENVIRONMENT_DATA),),
    params=Params(),
    cases=CASES,
    # Names one fault of five live lists in time that no other rule names, and warns on two of 122 healthy runs of the
    # half of the fault benchmark that its limits were not set with (2026-11-26).
    status=Status.PREVIEW,
)
def detect(view: RunView, params: Params) -> Answer:
    """What actions do to the environment leaves its own past further than in any healthy run.

    What it means:
        A metric lies several ranges of what it did in the second half of its past outside of it, in six values on end,
        or moved within eight values several times as far as ever before; further than in any of some 1,200 recorded
        healthy runs and beginnings, with room to spare.
        What the environment answers was the first to leave.
        It says that something is unlike all of them, not what. Rewards, returns, advantages and lengths are not asked:
        they follow from everything.

    Why it matters:
        What was learned is true of a world that answers otherwise; tuning the algorithm does not bring the return back.

    Usual causes:
        Actions that are carried out late, weaker or otherwise; a simulator that was replaced.

    What to try:
        Replay a recorded episode's actions before and after that step and compare observation by observation.

    When it is harmless:
        Randomisation or levels that you switched on at that step.

    References:
        Page 1954, "Continuous Inspection Schemes"; Basseville and Nikiforov 1993, "Detection of Abrupt Changes": a
        process against its own past. Hill 1975, doi:10.1214/aos/1176343247: how far the next healthy run may go.
    """
    return leaves_past(view, Link.ENVIRONMENT_DATA)
