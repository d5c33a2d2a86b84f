"""The rule `untimed-stalls`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import RunView

STEP, TIMED = "time/step", ("time/generate", "time/update")
PHASES = (*TIMED, "time/reward", "time/old_logprob", "time/ref_logprob", "time/sync")
EVALUATED = ("reward/eval_mean", "reward/eval_return_mean")
"""An update at which one of these is logged holds an evaluation."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `untimed-stalls`."""

    factor: float = 5.0
    """Time of an update outside of all its phases, over the time of a whole usual one. Engineering default, that of
    `step-time-tail`."""
    stalls: int = 3
    """Such updates. One or two are a pause of the machine. Engineering default."""
    share: float = 0.15
    """Share of all time from the first on that is lost so. Engineering default; of the 403 recorded runs of the fault
    benchmark (both halves) that time their phases no sound one lost more than 0.04."""


GRPO = synth.like("GRPO")
PHASED = {"time/generate": synth.flat(15.0), "time/update": synth.flat(10.0), STEP: synth.flat(30.0)}
TIMES = (0.5, 0.6, 0.7, 0.8, 0.9)
CASES = (
    fires("a loader that hangs now and then", lambda: GRPO(PHASED | {STEP: synth.spikes(30, 600, at=TIMES)})),
    healthy("steady", lambda: GRPO(PHASED)),
    near_miss(
        "long generations now and then",
        lambda: GRPO(
            PHASED | {"time/generate": synth.spikes(15, 585, at=TIMES), STEP: synth.spikes(30, 600, at=TIMES)}
        ),
    ),
    near_miss("two pauses", lambda: GRPO(PHASED | {STEP: synth.spikes(30, 600, at=TIMES[:2])})),
)


@rule(
    "SYS040",
    "untimed-stalls",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    severity=Severity.WARNING,
    needs=(STEP, *TIMED),
    min_points=20,
    params=Params(),
    cases=CASES,
    implies=("step-time-tail", "throughput-decay", "trainer-starved", "gpu-idle"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Now and then an update takes many times as long, and none of its timed phases does.

    What it means:
        The time of a step is more than generating, scoring, log-probs and training together, by several usual steps,
        again and again; and that is a good part of all time. A machine that is slow lengthens the phases, too.

    Why it matters:
        All devices wait. It goes unnoticed, because every phase that is timed looks as it should.

    Usual causes:
        A data loader without prefetch, or with too few workers; shards fetched over the network; checkpoints written
        in the training process; garbage collection; a lock.

    What to try:
        Time the loader, checkpoints and logging as phases of their own; trace one slow update; prefetch.

    When it is harmless:
        Checkpoints that are meant to block, and are worth the time. Updates at which an evaluation is logged do not
        count.

    References:
        Mohan et al. 2021, arXiv 2007.06775 (data stalls in training).
    """
    step = view.get(STEP)
    assert step is not None
    rest = step.value - timed(view, step.step)
    usual = median(step.value)
    slow = (rest >= params.factor * usual) & ~evaluated(view, step.step)
    slow[:2] = False  # what is compiled or filled at first
    places = np.flatnonzero(slow)
    if usual <= 0 or places.size < params.stalls:
        return None
    # The first stall is left out of the share, or it would depend on where one begins to count.
    after, stalled = step.value[places[0] + 1 :], rest[places[1:]]
    share = float(stalled.sum() / after.sum())
    if share < params.share:
        return None
    first = float(step.step[places[0]])
    return Detection(
        message=f"{places.size} updates spend {median(rest[places]):.3g} s outside of all timed phases, "
        f"where a usual one takes {usual:.3g} s ({share:.0%} of all time)",
        onset=view.onset(float(step.step[places[0] - 1]), first),
        metric=STEP,
        evidence={"stalls": int(places.size), "share_frac": share, "median_s": usual},
    )


def timed(view: RunView, steps: Floats) -> Floats:
    """Return the seconds of all timed phases at `steps` [n]; infinite where one that must be there was not logged."""
    total = np.zeros_like(steps)
    for name in PHASES:
        phase = view.get(name)
        if phase is None:
            continue
        place = np.searchsorted(phase.step, steps).clip(max=max(len(phase) - 1, 0))
        there = phase.step[place] == steps
        total += np.where(there, phase.value[place], np.inf if name in TIMED else 0.0)
    return total


def evaluated(view: RunView, steps: Floats) -> np.ndarray:
    """Return whether an evaluation was logged at each of `steps` [n]."""
    at = [score.step for name in EVALUATED if (score := view.get(name)) is not None]
    return np.isin(steps, np.concatenate(at)) if at else np.zeros(steps.shape, bool)
