"""The rule `target-network-replaced`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import RunView

DELTA = "critic/target_delta"


@dataclass(frozen=True)
class Params:
    """Thresholds of `target-network-replaced`. Engineering defaults where no source is named."""

    rows: int = 8
    """Earlier rows that say how far targets move: the shortest stretch with a stated error."""
    moves: int = 3
    """Of these, rows in which they did: the first copies of a network that just began to learn are large."""
    far: float = 0.5
    """Share of their norm by which the weights of the targets moved within the row. Weights that have nothing to do
    with one another lie 1.4 norms apart; in 65 recorded runs that log it (corpus of 2026-11-26) no target of a healthy
    run moves by so much after its first copies."""
    times: float = 5.0
    """Times the largest move before. In the same runs critics and targets that were exchanged reach 5.4 to 75."""


SAC, DQN = synth.like("SAC", config={"tau": 0.005}), synth.like("DQN")
FOLLOWS = synth.flat(0.02, 0.05)


def copied(t: Floats, rng: np.random.Generator) -> Floats:
    """A copy every eight rows [n], nothing between."""
    return np.where(np.arange(t.size) % 8 == 0, 0.1 + 0.02 * rng.random(t.size), 0.0)


def exchanged(t: Floats, rng: np.random.Generator) -> Floats:
    """The same [n], but other weights after 0.6 of the run, which stay as they are."""
    at = int(0.6 * t.size)
    return np.concatenate([copied(t[:at], rng), [2.0], np.zeros(t.size - at - 1)])


CASES = (
    fires("other weights within one row", lambda: SAC({DELTA: synth.spikes(0.02, 1.8, (0.6,), 0.05)})),
    fires("other weights, and no copy since", lambda: DQN({DELTA: exchanged})),
    healthy("it follows", lambda: SAC({DELTA: FOLLOWS})),
    healthy("it is copied", lambda: DQN({DELTA: copied})),
    near_miss(
        "the first copies of a network that begins to learn",
        lambda: DQN({DELTA: synth.after(0.05, copied, synth.spikes(0.0, 0.9, (0.03,), 0.0))}),
    ),
    near_miss("the critic learns faster, and it follows", lambda: SAC({DELTA: synth.geometric(0.02, 0.9, 0.05)})),
    near_miss(
        "five times as far as ever, from next to nothing", lambda: SAC({DELTA: synth.spikes(0.02, 0.12, (0.6,), 0.05)})
    ),
)


@rule(
    "CRT041",
    "target-network-replaced",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    needs=(DELTA,),
    when=("q_function",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "values-jump",
        "critic-moves-at-once",
        "critic-leaves-target",
        "target-network-stuck",
        "value-loss-explosion",
        "dynamics-changed",
        "action-response-changed",
        "reward-moves-at-once",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The weights of the target network were exchanged: within one row they moved by more than half of their size.

    What it means:
        A target network follows the critic by small steps, or is a copy of it now and then, and a critic moves by a few
        hundredths between copies. Half of the norm within a row, many times as far as ever, is another network.

    Why it matters:
        Every target is wrong from that row on. The critic follows within some hundred updates, and the policy, which
        climbs what the critic says, goes wherever that is.

    Usual causes:
        A target that is made anew at a resume, or loaded from another file; a critic whose weights were thrown about
        and copied; weights that are copied in another order of layers.

    What to try:
        Hash the weights of critic and target around that row, and see which of them changed, and who wrote them.

    When it is harmless:
        Resets of the critic and its target that you make on purpose (Nikishin et al. 2022).

    References:
        Mnih et al. 2015, doi 10.1038/nature14236, methods. Lillicrap et al. 2016, arXiv 1509.02971, section 3.
    """
    delta = view.get(DELTA)
    assert delta is not None
    value = delta.value
    if value.size <= params.rows:
        return Skip("too few rows to say how far targets move")
    most = np.maximum.accumulate(value)[:-1]
    moved = np.cumsum(value > 0)[:-1] >= params.moves
    found = np.flatnonzero((value[1:] >= params.far) & (value[1:] >= params.times * most) & moved) + 1
    found = found[found >= params.rows]
    if not found.size:
        return None
    place = int(found[0])
    return Detection(
        message=f"targets moved by {value[place]:.2g} norms in one row; the most before was {most[place - 1]:.2g}",
        onset=view.onset(float(delta.step[place - 1]), float(delta.step[place])),
        metric=DELTA,
        evidence={"moved": float(value[place]), "most_before": float(most[place - 1])},
    )
