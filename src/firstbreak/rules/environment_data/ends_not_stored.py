"""The rule `ends-not-stored`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import identity_broken, median
from firstbreak.view import RunView

KEPT, ADDED = "data/end_kept_frac", "data/end_added_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `ends-not-stored`: engineering defaults; right is 1 by construction."""

    kept: float = 0.5
    """Share of the ends from which on too few are stored: rows hold few ends."""
    held: int = 8
    """Rows on end in which all were stored."""
    lasts: int = 2
    """Rows on end in which they are not."""


DQN = synth.like("DQN")
ALL, NONE = synth.constant(1.0), synth.constant(0.0)
CASES = (
    fires("ends are stored no more", lambda: DQN({KEPT: synth.jump(1.0, 0.0, 0.6, 0.0), ADDED: NONE})),
    healthy("as it should be", lambda: DQN({KEPT: ALL, ADDED: NONE})),
    near_miss(
        "a time limit outside of what is watched, which a policy that improves comes to meet",
        lambda: DQN({KEPT: ALL, ADDED: synth.jump(0.0, 1.0, 0.6, 0.0)}),
    ),
    near_miss("one odd row", lambda: DQN({KEPT: synth.spikes(1.0, 0.0, (0.6,), 0.0), ADDED: NONE})),
)


@rule(
    "ENV113",
    "ends-not-stored",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    needs=(KEPT,),
    min_points=10,
    params=Params(),
    cases=CASES,
    implies=(
        "smooth-decline",
        "return-collapse",
        "reward-flat",
        "terminals-bootstrapped",
        "replay-chain-broken",
        "values-ignore-ends",
        "q-exceeds-return",
        "q-divergence",
        "critic-leaves-past",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Episodes end where nothing is stored.

    What it means:
        Each end that the environment gave was stored with its step. From one row on that is not so.

    Why it matters:
        Values are carried across ends, from one episode into the next.

    Usual causes:
        A wrapper or a buffer that drops the flag; `terminated` and `truncated` exchanged or only one of them kept; ends
        that are filled a step late; a condition of one's own that stops episodes early.

    What to try:
        Print, for one episode, both flags that `step` returned beside what is stored.

    When it is harmless:
        A time limit outside of the environment that begins by plan.

    References:
        Pardo et al. 2018, arXiv 1712.00378 (what an end is).
    """
    points = view.get(KEPT)
    assert points is not None
    right, off = points.value == 1, points.value <= params.kept
    onset = identity_broken(points.step, right, off, held=params.held, lasts=params.lasts)
    if onset is None:
        return None
    now = median(points.value[points.step >= onset[1]])
    return Detection(
        message=f"{now:.0%} of the ends that the environment gave are stored; it was all",
        onset=view.onset(*onset),
        metric=KEPT,
        evidence={"share": now},
    )
