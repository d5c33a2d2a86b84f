"""The rule `time-limit-shortened`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

LENGTH, CUT, LIMIT = "episode/length_mean", "episode/truncated_frac", "episode/limit_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `time-limit-shortened`."""

    rows: int = 3
    """Rows on end whose episodes are all cut at one and the same length. Engineering default."""
    longer: float = 1.2
    """Times that length which episodes lasted before: above 1 the limit was another one, by definition. Engineering
    default."""


DQN = synth.like("DQN")
LONG = synth.clipped(synth.ramp(20, 300, 0.05), 9, 500)
CASES = (
    fires(
        "cut at 12 steps where they lasted 150",
        lambda: DQN({LENGTH: synth.after(0.6, synth.constant(12.0), LONG), CUT: synth.jump(0.0, 1.0, 0.6, 0.0)}),
    ),
    fires("the copies themselves are cut at half of it", lambda: DQN({LIMIT: synth.jump(1.0, 0.5, 0.9, 0.0)})),
    healthy("the copies are cut where they always were", lambda: DQN({LIMIT: synth.constant(1.0)})),
    healthy("some episodes are cut", lambda: DQN({LENGTH: LONG, CUT: synth.clipped(synth.flat(0.1, 0.5), 0, 1)})),
    near_miss(
        "solved: all reach the limit",
        lambda: DQN({LENGTH: synth.clipped(synth.ramp(20, 900, 0.0), 9, 500), CUT: synth.jump(0.0, 1.0, 0.54, 0.0)}),
    ),
    near_miss(
        "they end early, by failing",
        lambda: DQN({LENGTH: synth.after(0.6, synth.constant(12.0), LONG), CUT: synth.constant(0.0)}),
    ),
)


@rule(
    "ENV026",
    "time-limit-shortened",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    any_of=((LIMIT, LENGTH), (LIMIT, CUT)),
    when=("control",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("return-collapse", "reward-flat", "episodes-at-time-limit", "value-loss-explosion"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Episodes are cut at a length that earlier episodes of the same run have passed.

    What it means:
        All episodes of these rows end by truncation and at the same step, and before there were longer ones; or one
        copy of the environment was always cut at one length, and now several times on end at a shorter one. The time
        limit is not the one that the run began with.

    Why it matters:
        States late in an episode are not visited any more, and the return falls though the policy is as good as it was.

    Usual causes:
        A second time-limit wrapper; an environment that was made anew with its default limit, after a resume or a
        crash; a limit in seconds or frames; a step counter that is not reset.

    What to try:
        Print the length and the reason of the end of ten episodes, with the wrappers around the environment.

    When it is harmless:
        A limit that you changed yourself: log `env/curriculum`.

    References:
        Pardo et al. 2018, "Time limits in reinforcement learning", arXiv 1712.00378.
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum changes the environment")
    return by_copies(view) or by_means(view, params)


def by_copies(view: RunView) -> Answer:
    """Say so where a copy of the environment, whose cuts came at one length all along, is cut at a shorter one."""
    limit = view.get(LIMIT)
    if limit is None or limit.min >= 1:
        return None
    short = np.flatnonzero(limit.value < 1)
    place = int(short[0])
    now = float(limit.value[place])
    return Detection(
        message=f"episodes are cut at {now:.0%} of the length at which they always were",
        onset=view.onset(float(limit.step[max(place - 1, 0)]), float(limit.step[place])),
        metric=LIMIT,
        evidence={"limit_frac": now},
    )


def by_means(view: RunView, params: Params) -> Answer:
    """Say so where all episodes of several rows are cut at one length that the mean of earlier ones passed."""
    length, cut = view.get(LENGTH), view.get(CUT)
    if length is None or cut is None:
        return None
    step, here, there = np.intersect1d(length.step, cut.step, return_indices=True)
    lasted, limited = length.value[here], cut.value[there] >= 1
    # The row in which the limit changes holds episodes of both kinds.
    longest = np.maximum.accumulate(lasted)
    passed = np.append(False, longest[:-1] >= params.longer * lasted[1:])
    for place in np.flatnonzero(limited & passed):
        now = lasted[place : place + params.rows]
        alike = now.size == params.rows and now.min() == now.max() and limited[place : place + params.rows].all()
        if alike:
            return Detection(
                message=f"all episodes are cut after {now[0]:.4g} steps; they lasted {longest[place - 1]:.4g} before",
                onset=view.onset(float(step[max(place - 2, 0)]), float(step[place])),
                metric=LENGTH,
                evidence={"limit_steps": float(now[0]), "longest_mean_before_steps": float(longest[place - 1])},
            )
    return None
