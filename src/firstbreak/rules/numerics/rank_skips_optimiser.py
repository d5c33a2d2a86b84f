"""The rule `rank-skips-optimiser`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.stats.peers import peer_level
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `rank-skips-optimiser`: engineering defaults, except where a source is named."""

    rows: int = 2
    """Rows by which a rank's count of optimiser steps is behind. Ranks that step together differ by at most one, when
    one logs before the step and the other after it. Engineering default."""
    points: int = 3
    """Consecutive points that show it. Engineering default."""


GRPO = synth.like("GRPO")
STEADY = synth.ramp(4, 480, 0.0)

CASES = (
    fires(
        "one rank's count stops half-way",
        lambda: GRPO(
            {
                "optim/n_updates": STEADY,
                "optim/n_updates#1": STEADY,
                "optim/n_updates#2": synth.ramp(4, 240, 0.0, until=0.5),
            }
        ),
    ),
    fires(
        "one rank has no gradient",
        lambda: GRPO({"optim/grad_norm#1": synth.after(0.5, synth.constant(0.0), synth.flat(0.3, 0.15))}),
    ),
    healthy("all step together", lambda: GRPO({"optim/n_updates": STEADY, "optim/n_updates#1": STEADY})),
    near_miss(
        "one logs before the step, the other after it",
        lambda: GRPO({"optim/n_updates": synth.ramp(8, 484, 0.0), "optim/n_updates#1": STEADY}),
    ),
    near_miss(
        "no rank has a gradient",
        lambda: GRPO({"optim/grad_norm": synth.constant(0.0), "optim/grad_norm#1": synth.constant(0.0)}),
    ),
)


@rule(
    "NUM017",
    "rank-skips-optimiser",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    any_of=(("optim/n_updates", "optim/grad_norm"),),
    min_points=4,
    params=Params(),
    cases=CASES,
    implies=("ranks-diverge", "weight-sync-fault"),
)
def detect(view: RunView, params: Params) -> Answer:
    """One rank makes fewer optimiser steps than the others, or steps on a gradient of zero.

    What it means:
        At the same training step this rank has counted fewer optimiser steps than its peers, or its gradient norm is
        exactly 0 while theirs is not.

    Why it matters:
        Its weights fall behind, and what it samples or averages into the others comes from another model.

    Usual causes:
        A rank that skips a step by itself (not finite, empty batch, loss scale) while the others take theirs; a
        parameter group missing there; an optimiser that was not restored on that rank.

    What to try:
        Reduce the decision to skip over all ranks; log the number of steps and a hash of the weights of every rank.

    When it is harmless:
        Ranks that train another network by design.

    References:
        Micikevicius et al. 2018, arXiv 1710.03740 (skipped steps); the counts agree by definition.
    """
    me = view.scope.rank or "0"
    counts, norms = view.ranks("optim/n_updates"), view.ranks("optim/grad_norm")
    steps, norm = counts.pop(me, None), norms.pop(me, None)
    if not (steps and counts) and not (norm and norms):
        return Skip("fewer than two ranks logged their optimiser steps")
    if steps and counts:
        found = _behind(view, me, steps, counts, params)
        if found is not None:
            return found
    return _no_gradient(view, me, norm, norms, params) if norm and norms else None


def _behind(view: RunView, me: str, own: Points, others: dict[str, Points], params: Params) -> Detection | None:
    """Compare the count with what the others had counted two rows before."""
    level = peer_level(own.step, [(p.step, p.value) for p in others.values() if len(p)])
    if level.size <= params.rows:
        return None
    earlier = np.concatenate([np.full(params.rows, np.nan), level[: -params.rows]])
    onset = persistent_onset(own.step, (own.value <= earlier) & (earlier < level), params.points)
    if onset is None:
        return None
    known = np.flatnonzero(np.isfinite(level))
    mine, theirs = float(own.value[known[-1]]), float(level[known[-1]])
    return Detection(
        message=f"Rank {me} counts {mine:.6g} optimiser steps where the other ranks count {theirs:.6g}",
        onset=view.onset(*onset),
        metric=own.metric,
        evidence={"rank": me, "own_updates": mine, "others_updates": theirs},
    )


def _no_gradient(view: RunView, me: str, own: Points, others: dict[str, Points], params: Params) -> Detection | None:
    level = peer_level(own.step, [(p.step, p.value) for p in others.values() if len(p)])
    onset = persistent_onset(own.step, (own.value == 0) & (level > 0), params.points)
    if onset is None:
        return None
    theirs = float(np.nanmedian(level[own.value == 0]))
    return Detection(
        message=f"Rank {me} has a gradient norm of 0 where the other ranks have {theirs:.3g}",
        onset=view.onset(*onset),
        metric=own.metric,
        evidence={"rank": me, "own_norm": 0.0, "others_norm": theirs},
    )
