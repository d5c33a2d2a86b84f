"""The rule `replay-emptied`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import RunView

SIZE, CAPACITY = "replay/size", "replay/capacity"


@dataclass(frozen=True)
class Params:
    """Thresholds of `replay-emptied`. Engineering defaults."""

    left: float = 0.5
    """Share of what it held from which on it counts as emptied. What a buffer evicts by age or by whole episodes is
    a small part of it."""
    rows: int = 6
    """Rows before in which it held at least as much, each, as the one before."""
    held: float = 500.0
    """Transitions that it held at least: emptied before learning began it is no loss."""


SAC = synth.like("SAC")
FILLS = synth.ramp(1000.0, 60_000.0, 0.0)


def emptied(t: Floats, rng: np.random.Generator) -> Floats:
    """Fill, begin anew at 0.6 of the run, and fill again [n]."""
    since: Floats = np.where(t < 0.6, t, t - 0.6)
    return FILLS(since, rng)


def sawtooth(t: Floats, rng: np.random.Generator) -> Floats:
    """Begin anew every fourth row [n]."""
    del rng
    found: Floats = np.where(np.arange(t.size) % 4 == 3, 1000.0, 4000.0)
    return found


CASES = (
    fires("a buffer made anew at a resume", lambda: SAC({SIZE: emptied})),
    healthy("it fills", lambda: SAC({SIZE: FILLS})),
    healthy("it is full", lambda: SAC({SIZE: synth.constant(1e5)})),
    near_miss("a tenth is dropped by its age", lambda: SAC({SIZE: synth.jump(1e5, 9e4, 0.6, 0.0)})),
    near_miss("emptied in every phase", lambda: SAC({SIZE: sawtooth})),
    near_miss(
        "set smaller: another rule says so",
        lambda: SAC({SIZE: synth.jump(1e5, 200.0, 0.6, 0.0), CAPACITY: synth.jump(1e6, 200.0, 0.6, 0.0)}),
    ),
)


@rule(
    "DAT076",
    "replay-emptied",
    link=Link.DATA_FRESHNESS,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    needs=(SIZE,),
    when=("q_function",),
    min_points=7,
    params=Params(),
    cases=CASES,
    static=True,
    across_phases=True,
    implies=(
        "replay-buffer-tiny",
        "replay-not-filling",
        "replay-stale",
        "replay-unlike-world",
        "update-ratio-off",
        "critic-moves-at-once",
        "q-divergence",
        "values-jump",
        "return-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The replay buffer held much, and from one row to the next hardly anything.

    What it means:
        Most of the stored transitions are gone at once, though the buffer is as large as it was. It had only grown.

    Why it matters:
        Updates go on, on the few newest steps again and again: critic and policy are fitted to them and forget the
        rest.

    Usual causes:
        A checkpoint that holds the weights and not the buffer; a buffer that is made anew, or its place to write to set
        to 0; a callback that clears it.

    What to try:
        Save and load the buffer with the weights, or collect as many steps as before learning started, before the next
        update.

    When it is harmless:
        Where it is cleared on purpose and filled before learning goes on.

    References:
        Fedus et al. 2020, arXiv 2007.06700 (what the size and the age of a replay buffer do).
    """
    size, capacity = view.get(SIZE), view.get(CAPACITY)
    assert size is not None
    for place in np.flatnonzero(size.value[1:] <= params.left * size.value[:-1]) + 1:
        before, lo, hi = size.value[max(0, place - params.rows) : place], size.step[place - 1], size.step[place]
        if before.size < params.rows or before[-1] < params.held or (np.diff(before) < 0).any():
            continue
        if capacity is not None:
            most = capacity.value[(capacity.step >= lo) & (capacity.step <= hi)]
            if most.size and float(most.min()) < float(before[-1]):
                continue  # it cannot hold more: `replay-setting-moved`
        return Detection(
            message=f"the replay buffer held {before[-1]:.6g} transitions, and then {size.value[place]:.6g}",
            onset=view.onset(float(lo), float(hi)),
            metric=SIZE,
            evidence={"before": float(before[-1]), "now": float(size.value[place])},
        )
    return None
