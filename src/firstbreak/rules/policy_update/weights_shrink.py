"""The rule `weights-shrink`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats.change import largest_of
from firstbreak.view import RunView

NORM = "net/weight_norm"


@dataclass(frozen=True)
class Params:
    """Thresholds of `weights-shrink`. Of 1,300 recorded runs (development half and live campaigns, corpus of
    2026-11-26) none but one with weight decay reaches them."""

    rows: int = 8
    """Moves from row to row that say what is usual: the shortest stretch with a stated error."""
    opening: int = 4
    """First moves that are not asked: weights find their size."""
    least: float = 0.01
    """Share of the norm that is lost within a row. Engineering default: half of it in 70 rows."""
    times: float = 2.0
    """Times the largest move before, either way, that each must reach."""
    lasts: int = 2
    """Rows in a row that must show it: weights that are exchanged change their size once."""


PPO = synth.like("PPO")
GROWS = synth.ramp(18.0, 18.4, 0.0002)
CASES = (
    fires(
        "half of the weights within a quarter of the run",
        lambda: PPO({NORM: synth.after(0.6, synth.geometric(18.2, 8.0, 0.0002, begin=0.6, until=0.8), GROWS)}),
    ),
    healthy("they grow a little", lambda: PPO({NORM: GROWS})),
    near_miss(
        "other weights once, somewhat smaller", lambda: PPO({NORM: synth.jump(18.0, 16.0, at=0.6, noise=0.0002)})
    ),
    near_miss("decay from the first row on", lambda: PPO({NORM: synth.geometric(18.0, 9.0, 0.0002)})),
    near_miss("slowly", lambda: PPO({NORM: synth.ramp(18.0, 17.0, 0.0002, begin=0.6)})),
)


@rule(
    "POL105",
    "weights-shrink",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(NORM,),
    min_points=14,
    params=Params(),
    cases=CASES,
    implies=(
        "entropy-growing",
        "update-against-advantage",
        "smooth-decline",
        "return-collapse",
        "policy-moves-at-once",
        "exploration-moves-at-once",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The weights lose a share of their size in every row, faster than they ever moved.

    What it means:
        Steps along gradients change the norm of the weights by little, and in either direction. Losing one hundredth
        and more of it in each row is something that pulls all weights towards 0.

    Why it matters:
        Outputs go to 0 with the weights: policies become uniform and values constant, whatever the gradient says.

    Usual causes:
        A weight decay that was switched on or is far too large (a default of another optimiser); an L2 penalty on a
        summed loss; a soft update that mixes in a network of zeros.

    What to try:
        Print `weight_decay` and the rate of every group of the optimiser; take one step with a gradient of zero, and
        compare the norms.

    When it is harmless:
        A decay that you schedule on purpose, or the return to usual size after weights were thrown about.

    References:
        Loshchilov and Hutter 2019, arXiv 1711.05101 (what decay does beside the gradient).
    """
    norm = view.get(NORM)
    assert norm is not None
    moves = np.diff(np.log(np.maximum(norm.value, 1e-300)))
    if moves.size < params.opening + params.rows + params.lasts:
        return Skip("too few rows to say how far weights move")
    begin = params.opening + params.rows
    now = largest_of(moves, params.lasts)[begin:]
    most = np.maximum.accumulate(np.abs(moves[params.opening :]))[params.rows - 1 :][: now.size]
    found = np.flatnonzero(now < -np.maximum(params.least, params.times * most))
    if not found.size:
        return None
    place = int(found[0]) + begin
    share, before = 1 - float(np.exp(moves[place])), float(norm.value[place])
    return Detection(
        message=f"the norm of the weights falls by {share:.1%} a row, from {before:.3g}",
        onset=view.onset(float(norm.step[place]), float(norm.step[place + 1])),
        metric=NORM,
        evidence={"lost_frac": share, "norm_before": before, "largest_move_before": float(most[place - begin])},
    )
