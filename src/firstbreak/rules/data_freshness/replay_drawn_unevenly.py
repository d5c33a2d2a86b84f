"""The rule `replay-drawn-unevenly`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

NATS = "replay/draws_uneven_nats"


@dataclass(frozen=True)
class Params:
    """Thresholds of `replay-drawn-unevenly`."""

    certain: float = 24.0
    """Nats that count: uniform draws come to them in less than one of 26 billion windows (Massart 1990)."""


SAC = synth.like("SAC")

CASES = (
    fires("only the oldest half is drawn", lambda: SAC({NATS: synth.jump(1.0, 200.0, at=0.6, noise=0.1)})),
    healthy("all rows alike", lambda: SAC({NATS: synth.flat(1.0, 0.5)})),
    near_miss("a window that is a little uneven by chance", lambda: SAC({NATS: synth.spikes(1.0, 9.0, at=(0.5,))})),
)


@rule(
    "DAT081",
    "replay-drawn-unevenly",
    link=Link.DATA_FRESHNESS,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    needs=(NATS,),
    min_points=1,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "replay-stale",
        "replay-unlike-world",
        "batch-repeated",
        "critic-moves-at-once",
        "critic-leaves-past",
        "q-divergence",
        "values-jump",
        "return-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Draws of the replay buffer no longer come from all of it alike, as they did.

    What it means:
        The places of drawn rows, from the oldest to the newest, are further from a uniform distribution than chance
        allows; at first they were uniform.

    Why it matters:
        What is never drawn might as well not be stored: critic and policy are fitted to a part of what was seen, to
        old steps or to few, and forget the rest.

    Usual causes:
        An upper bound of the drawn places that does not grow with the buffer, or is computed from another size; a
        sampler that is handed a subset; priorities that all fall on few rows; a filter that lets few rows pass.

    What to try:
        Draw ten thousand places and plot how often each tenth of the buffer comes; print the bounds of the draw beside
        the buffer's size.

    When it is harmless:
        Where a recipe begins to prefer new or old rows on the way, on purpose.

    References:
        Massart 1990, doi:10.1214/aop/1176990746. Fedus et al. 2020, arXiv 2007.06700 (what the age of replay does).
        Wang et al. 2020, arXiv 1906.04009 (new rows preferred on purpose).
    """
    uneven = view.get(NATS)
    assert uneven is not None
    beyond = uneven.value >= params.certain
    onset = persistent_onset(uneven.step, beyond, 1)
    if onset is None:
        return None
    most = float(uneven.value[beyond].max())
    return Detection(
        message=f"rows are not drawn from all of the replay buffer alike any more: {most:.3g} nats from uniform",
        onset=view.onset(*onset),
        metric=NATS,
        evidence={"nats": most, "rows": int(beyond.sum())},
    )
