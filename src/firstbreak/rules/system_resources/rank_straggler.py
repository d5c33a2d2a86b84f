"""The rule `rank-straggler`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.stats.peers import peer_level
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `rank-straggler`: engineering defaults, except where a source is named."""

    factor: float = 1.5
    """A rank's time over the median of the other ranks'. Engineering default."""
    points: int = 12
    """Newest points that are looked at; and consecutive ones that mark the start. Engineering default."""
    share: float = 0.75
    """Share of those points that must be slow: a rank that is slow now and then is noise. Engineering default."""
    part: float = 0.1
    """Share of the whole step that a phase must take to matter. Engineering default."""


PHASES = ("time/generate", "time/rollout_s", "time/reward", "time/update_s", "time/update", "time/step")
"""What a rank does by itself, and last the whole step, in which fast ranks wait for the slow one."""

GRPO = synth.like("GRPO")

CASES = (
    fires(
        "one rank of three generates twice as long from half-way on",
        lambda: GRPO(
            {
                "time/generate": synth.flat(10.0),
                "time/generate#1": synth.jump(10.0, 22.0, at=0.5),
                "time/generate#2": synth.flat(10.0),
            }
        ),
    ),
    fires(
        "rank 0 is the slow one",
        lambda: GRPO({"time/step": synth.flat(60), "time/step#1": synth.flat(30), "time/step#2": synth.flat(31)}),
    ),
    healthy(
        "ranks alike",
        lambda: GRPO({"time/step#1": synth.flat(30, 0.05), "time/step#2": synth.flat(31, 0.05)}),
    ),
    near_miss(
        "each rank is slow at times",
        lambda: GRPO({"time/step#1": synth.spikes(30, 120, at=(0.2, 0.5, 0.9, 1.0)), "time/step#2": synth.flat(30)}),
    ),
    near_miss(
        "slow in a phase that takes no time",
        lambda: GRPO(
            {"time/reward": synth.flat(0.01), "time/reward#1": synth.flat(0.05), "time/step#1": synth.flat(30)}
        ),
    ),
)


@rule(
    "SYS010",
    "rank-straggler",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    severity=Severity.WARNING,
    any_of=(PHASES,),
    min_points=12,
    params=Params(),
    cases=CASES,
    implies=("trainer-starved", "step-time-tail", "throughput-decay"),
)
def detect(view: RunView, params: Params) -> Answer:
    """One rank takes much longer for its work than the other ranks do.

    What it means:
        In most of the newest updates this rank took half again as long as the median of the others, or more.

    Why it matters:
        Synchronous training goes at the pace of the slowest rank; all others wait.

    Usual causes:
        A throttled or shared machine; longer samples on one rank; a slow disk or network there.

    What to try:
        Give its data to another rank: what stays slow tells machine from data. Balance samples by length.

    When it is harmless:
        A rank with another task by design (evaluation, logging).

    References:
        Dean & Barroso 2013, "The tail at scale".
    """
    me = view.scope.rank or "0"
    whole = view.get("time/step")
    alone = True
    for metric in PHASES:
        ranks = view.ranks(metric)
        own = ranks.pop(me, None)
        peers = [(p.step, p.value) for p in ranks.values() if len(p) >= params.points]
        if own is None or len(own) < params.points or not peers:
            continue
        alone = False
        level = peer_level(own.step, peers)
        slow = own.value >= params.factor * level
        recent = own.value[-params.points :]
        if float(np.mean(slow[-params.points :])) < params.share or median(recent) < params.part * _newest(whole):
            continue
        onset = persistent_onset(own.step, slow, max(int(params.share * params.points), 1))
        if onset is None:
            continue
        others = median(level[-params.points :][np.isfinite(level[-params.points :])])
        return Detection(
            message=f"Rank {me} takes {median(recent):.3g} s where the other ranks take {others:.3g} s",
            onset=view.onset(*onset),
            metric=metric,
            evidence={"rank": me, "own_s": median(recent), "others_s": others, "ranks": len(peers) + 1},
        )
    return Skip("fewer than two ranks logged their times") if alone else None


def _newest(points: Points | None) -> float:
    """Return the usual length of a step, 0 when it is not known."""
    return median(points.value[-16:]) if points is not None and len(points) else 0.0
