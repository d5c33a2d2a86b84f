"""The rule `ranks-diverge`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import persistent_onset
from firstbreak.stats.peers import PEERS
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `ranks-diverge`."""

    points: int = 1
    """Common steps at which the hash differs: one is enough, by definition."""


GRPO = synth.like("GRPO")
HASHES = synth.ramp(1e12, 2e14, 0.0)

CASES = (
    fires(
        "one rank of three leaves half-way",
        lambda: GRPO(
            {
                "net/weight_hash": HASHES,
                "net/weight_hash#1": synth.after(0.5, synth.ramp(3e12, 1e14, 0.0), HASHES),
                "net/weight_hash#2": HASHES,
            }
        ),
    ),
    healthy("one model on all ranks", lambda: GRPO({"net/weight_hash": HASHES, "net/weight_hash#1": HASHES})),
    near_miss(
        "weights stand still on all ranks",
        lambda: GRPO({"net/weight_hash": synth.constant(7e13), "net/weight_hash#1": synth.constant(7e13)}),
    ),
)


@rule(
    "NUM018",
    "ranks-diverge",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    needs=("net/weight_hash",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("weight-sync-fault", "logprob-mismatch"),
)
def detect(view: RunView, params: Params) -> Answer:
    """A rank holds other weights than the rest at the same step.

    What it means:
        The hash of its weights differs from the one that most ranks have. Two ranks alone: from that of rank 0.

    Why it matters:
        The ranks no longer train one model; averaged gradients fit none of them.

    Usual causes:
        Weights not broadcast at the start or after a restart; a step skipped on one rank; a module left out of the
        averaging; random initialisation with a seed per rank.

    What to try:
        Broadcast weights and optimiser state from rank 0; log the hash after every step to find the first that differs.

    When it is harmless:
        Weights that are sharded over the ranks by design: hash only what all of them should hold alike.

    References:
        None; weights that are replicated are equal by definition.
    """
    me = view.scope.rank or "0"
    ranks = view.ranks("net/weight_hash")
    own = ranks.get(me)
    if own is None or len(ranks) < 2:
        return Skip("only one rank logged a hash of its weights")
    usual = _usual(own.step, ranks)
    onset = persistent_onset(own.step, np.isfinite(usual) & (own.value != usual), params.points)
    if onset is None:
        return None
    return Detection(
        message=f"Rank {me} of {len(ranks)} holds other weights than the other ranks, first seen at {onset[1]:.6g}",
        onset=view.onset(*onset),
        metric=own.metric,
        evidence={"rank": me, "at": onset[1], "ranks": len(ranks)},
    )


def _usual(step: Floats, ranks: dict[str, Points]) -> Floats:
    """Return the hash that most of some ranks have at each of `step` [n], of equals the first rank's; NaN for one."""
    table = np.array(
        [_at(step, points) for _, points in sorted(ranks.items(), key=lambda item: item[0] != "0")[:PEERS]]
    )
    votes = (table[:, None] == table[None]).sum(axis=1)  # NaN votes for nobody
    usual = np.take_along_axis(table, votes.argmax(axis=0)[None], axis=0)[0]
    return np.where(np.isfinite(table).sum(axis=0) > 1, usual, np.nan)


def _at(step: Floats, points: Points) -> Floats:
    """Return what was logged at exactly `step` [n], NaN where nothing was."""
    if not len(points):
        return np.full(step.size, np.nan)
    place = np.minimum(np.searchsorted(points.step, step), len(points) - 1)
    return np.where(points.step[place] == step, points.value[place], np.nan)
