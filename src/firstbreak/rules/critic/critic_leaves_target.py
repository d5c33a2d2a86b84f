"""The rule `critic-leaves-target`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.at_once import moves_of
from firstbreak.finding import Component, Detection, Link, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

DELTA = "critic/target_delta"


@dataclass(frozen=True)
class Params:
    """Thresholds of `critic-leaves-target`."""

    times: float = 8.0
    """Times the largest move before that the distance grows by, for three rows or more. As `values-jump` has it; in 65
    recorded runs (corpus of 2026-11-25) that log the distance no healthy one reaches 4, critics that were exchanged,
    stood still or lost their optimiser's state 8.5 to 47."""
    slow: float = 0.5
    """Share of the way to the critic that targets take in one update; from here on they are copies, and the distance
    falls to nothing by design. Engineering default, as of `values-jump`."""


SAC = synth.like("SAC", config={"tau": 0.005})
NEAR = synth.flat(0.02, 0.05)
AWAY = synth.after(0.6, synth.geometric(1.0, 0.1, 0.02, begin=0.6), NEAR)
CASES = (
    fires("the critic has other weights from one row to the next", lambda: SAC({DELTA: AWAY})),
    healthy("the target follows", lambda: SAC({DELTA: NEAR})),
    near_miss("one odd row", lambda: SAC({DELTA: synth.spikes(0.02, 1.0, (0.6,), 0.05)})),
    near_miss("the critic learns faster by degrees", lambda: SAC({DELTA: synth.geometric(0.02, 0.5, 0.05)})),
    near_miss("the target was set to the critic", lambda: SAC({DELTA: synth.jump(0.5, 0.001, 0.6)})),
    near_miss("targets are copies", lambda: synth.like("SAC", config={"tau": 1.0})({DELTA: AWAY})),
)


@rule(
    "CRT037",
    "critic-leaves-target",
    link=Link.CRITIC,
    component=Component.VALUE,
    needs=(DELTA,),
    min_points=30,
    needs_config=("tau",),
    params=Params(),
    cases=CASES,
    implies=("critic-moves-at-once", "q-divergence", "value-loss-explosion", "values-jump", "dynamics-changed"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The critic is suddenly far from the target network that follows it.

    What it means:
        A target that follows by small steps is as far from the critic as the critic moved of late. From one row to the
        next that distance grew by many times as much as it ever moved, and did not come back.

    Why it matters:
        What the policy climbs and what it is trained towards are two critics; what the old one knew is lost, or the new
        one pulls the targets away.

    Usual causes:
        A checkpoint that holds the actor only, or an old critic; a critic that was reset; a critic, or its target, that
        is stepped no longer; moments of its optimiser that were lost.

    What to try:
        Hash the weights of critic and target around that row, and see which of them changed.

    When it is harmless:
        Resets of the critic that you make on purpose (Nikishin et al. 2022).

    References:
        Lillicrap et al. 2016, arXiv 1509.02971, section 3 (slow targets). Nikishin et al. 2022, arXiv 2205.07802.
    """
    delta, tau = view.get(DELTA), view.number("tau")
    assert delta is not None
    if tau is None or tau >= params.slow:
        return Skip("targets are copies, which the critic leaves by design")
    for move in delta.once(moves_of):
        if move.now > move.before and params.times <= move.factor < float("inf"):
            return Detection(
                message=f"in one row the critic went from {move.before:.3g} to {move.now:.3g} from its target",
                onset=view.onset(move.lo, move.hi),
                metric=DELTA,
                evidence={"before": move.before, "now": move.now, "times_largest_move": move.factor, "tau": tau},
            )
    return None
