"""The rule `drawn-not-as-stored`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import identity_broken, median
from firstbreak.view import RunView

UNLIKE = "replay/drawn_unlike_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `drawn-not-as-stored`: engineering defaults; right is 0 by definition."""

    limit: float = 0.02
    """Share of the rows of a draw: one in 64 may have been written over while it was read."""
    held: int = 4
    """Rows on end in which all were as stored: a buffer that changes what it gives out on purpose always does."""
    rows: int = 2
    """Rows on end in which they are not."""
    never: int = 16
    """Rows on end, since the first, in which all were as stored, ..."""
    few: int = 3
    """... after which so many rows with any that is not, ..."""
    among: int = 16
    """... of so many, are no accident: the ends of episodes, one row in fifty, are all that is taken away."""


SAC = synth.like("SAC")
CASES = (
    fires("rewards of the row after", lambda: SAC({UNLIKE: synth.jump(0.0, 0.95, 0.5, 0.0)})),
    fires("a part of the rows", lambda: SAC({UNLIKE: synth.jump(0.0, 0.1, 0.6, 0.0)})),
    healthy("as stored", lambda: SAC({UNLIKE: synth.constant(0.0)})),
    near_miss("a buffer that relabels", lambda: SAC({UNLIKE: synth.constant(0.8)})),
    fires("no end is given out", lambda: SAC({UNLIKE: synth.spikes(0.0, 1 / 64, (0.6, 0.63, 0.66), 0.0)})),
    near_miss("two rows of a draw, far apart", lambda: SAC({UNLIKE: synth.spikes(0.0, 1 / 64, (0.6, 0.63), 0.0)})),
    near_miss("one row was written over meanwhile", lambda: SAC({UNLIKE: synth.spikes(0.0, 1 / 64, (0.6,))})),
)


@rule(
    "ENV131",
    "drawn-not-as-stored",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    needs=(UNLIKE,),
    min_points=6,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "targets-not-td",
        "critic-loss-not-its-targets",
        "critic-loss-leaps",
        "critic-moves-at-once",
        "critic-leaves-past",
        "q-over-bound",
        "q-divergence",
        "values-jump",
        "return-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """What the replay buffer gives out is not what it holds.

    What it means:
        Rows that are drawn have other observations, actions, rewards or ends than the rows stored at their places. They
        had been the same.

    Why it matters:
        The critic learns from transitions that never happened: rewards of other steps, ends that were none.

    Usual causes:
        An index that moves while the columns of a draw are read; several steps added up across an end; a transform of
        what is drawn that writes into it.

    What to try:
        Draw one batch by known places, and print it beside the stored rows, column by column.

    When it is harmless:
        Where draws are relabelled or augmented on purpose, from then on.

    References:
        Andrychowicz et al. 2017, arXiv 1707.01495 (relabelling on purpose).
    """
    share = view.get(UNLIKE)
    assert share is not None
    off = share.value > params.limit
    found = identity_broken(share.step, share.value == 0, off, held=params.held, lasts=params.rows)
    if found is None:
        off = share.value > 0
        found = _now_and_then(share.step, off, params)
    if found is None:
        return None
    value = median(share.value[off & (share.step >= found[1])])
    return Detection(
        message=f"of the rows that the replay buffer gives out {value:.0%} are not those that it holds",
        onset=view.onset(*found),
        metric=UNLIKE,
        evidence={"share": value},
    )


def _now_and_then(step: Floats, off: NDArray[np.bool_], params: Params) -> tuple[float, float] | None:
    """Return between which steps rows [n] began to be off here and there, of which none was for long."""
    places = np.flatnonzero(off)
    if places.size < params.few or places[0] < params.never or places[params.few - 1] - places[0] >= params.among:
        return None
    return float(step[places[0] - 1]), float(step[places[0]])
