"""The rule `step-time-tail`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `step-time-tail`: engineering defaults, except where a source is named."""

    factor: float = 5.0
    """99th percentile of the step time over its median, and a slow step over the median of those around it.
    Engineering default."""
    around: int = 8
    """Steps before and after a slow one that it is slow among: what lasts longer is no tail of single steps but another
    pace, of a machine that others use or of longer answers. Engineering default."""
    regular: float = 0.8
    """Share of the distances between slow steps that are one distance or its multiples, from which they are a plan: a
    batch that is drawn every fourth update, an evaluation, a checkpoint. Engineering default."""
    share: float = 0.3
    """Share of all time spent in steps above that factor that is worth a warning."""


GRPO = synth.like("GRPO")
DRAWN = synth.like("GRPO", config={"steps_per_generation": 4, "num_iterations": 6})


def drawn(t: Floats, rng: np.random.Generator) -> Floats:
    """Seconds [n] of updates of which every 24th draws a batch, but for the first."""
    row = np.arange(t.size)
    return np.where((row % 24 == 0) & (row > 0), 600.0, 30.0) * rng.uniform(0.95, 1.05, t.size)


CASES = (
    fires(
        "some steps take twenty times as long",
        lambda: GRPO({"time/step": synth.spikes(30, 600, at=(0.2, 0.4, 0.6, 0.8))}),
    ),
    healthy("steady", lambda: GRPO({})),
    near_miss(
        "others come to the machine: from then on every step takes longer",
        lambda: GRPO({"time/step": synth.jump(30, 300, at=0.85, noise=0.6)}),
    ),
    fires("a note: a batch is drawn every 24th update, as it is set", lambda: DRAWN({"time/step": drawn})),
    near_miss("one slow step", lambda: GRPO({"time/step": synth.spikes(30, 300, at=(0.0,))})),
)


@rule(
    "SYS005",
    "step-time-tail",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    severity=Severity.INFO,
    needs=("time/step",),
    min_points=50,
    params=Params(),
    cases=CASES,
    implies=("trainer-starved",),
)
def detect(view: RunView, params: Params) -> Answer:
    """A few steps take many times as long as the usual one.

    What it means:
        The slowest hundredth of the steps takes five times the median or more.

    Why it matters:
        Everybody waits for the slowest: stragglers set the pace of synchronous training.

    Usual causes:
        The longest response or tool call; checkpoints and evaluations counted in; network or disk pauses.

    What to try:
        See whether slow steps are regular (checkpoints) or go with length; bound the longest rollout; set time-outs.

    When it is harmless:
        Regular checkpoints, evaluations or generated batches, which are a note whatever their share; the first step,
        which compiles.

    References:
        Dean & Barroso 2013, "The tail at scale".
    """
    step = view.get("time/step")
    assert step is not None
    value = step.value[2:]
    middle = median(value)
    tail = float(np.quantile(value, 0.99))
    slow = value >= params.factor * np.maximum(middle, _around(value, params.around))
    if middle <= 0 or tail < params.factor * middle or int(slow.sum()) < 3:
        return None
    share = float(value[slow].sum() / value.sum())
    first = persistent_onset(step.step[2:], slow, 1)
    assert first is not None
    return Detection(
        message=f"Slowest steps take {tail:.3g} s against a median of {middle:.3g} s ({share:.0%} of all time)",
        onset=view.onset(*first),
        metric=step.metric,
        evidence={"p99_s": tail, "median_s": middle, "share_frac": share},
        severity=None if share < params.share or _regular(slow, params, _drawn_every(view)) else Severity.WARNING,
    )


def _around(value: Floats, rows: int) -> Floats:
    """Return the median of `rows` steps on either side of each of `value` [n], the step itself included."""
    padded = np.pad(value, rows, constant_values=np.nan)
    return np.nanmedian(np.lib.stride_tricks.sliding_window_view(padded, 2 * rows + 1), axis=1)


def _drawn_every(view: RunView) -> int:
    """Return the updates from one batch that is drawn to the next by the settings; 1 where they do not say."""
    steps, uses, micro = (
        view.number(name) or 1.0 for name in ("steps_per_generation", "num_iterations", "gradient_accumulation")
    )
    return max(1, round(steps * uses / micro))


def _regular(slow: np.ndarray[Any, np.dtype[np.bool_]], params: Params, plan: int) -> bool:
    """Whether slow steps come at one distance and its multiples, since one of them may be quick by chance.

    Args:
        slow: Which steps are.
        params: Of the rule.
        plan: A distance that the settings give; 1 for none.
    """
    apart = np.diff(np.flatnonzero(slow))
    if plan > 2 and apart.size and float((apart % plan == 0).mean()) >= params.regular:
        return True
    if apart.size <= 3:
        return False
    period = int(np.median(apart))
    return period > 2 and float((apart % period == 0).mean()) >= params.regular
