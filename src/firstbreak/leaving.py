"""A run held against its own past and against healthy runs: a metric that leaves its past further than any of them did.

At every row it is measured how far a metric lies outside the range of what it did before, and how many times the
record of its earlier moves it moved (`firstbreak.stats.leaving`); both are free of units. What is far depends on the
metric: of some, healthy runs reach anything. How far they ever went stands in `data/usual_reach.toml`, which
`benchmarks/live/usual_reach.py` writes. What its limits say is that this is unlike every healthy run; which fault it
is, they cannot know. Returns, rewards, advantages, lengths and visited states follow from whatever broke and from what
is learned; they are not asked.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from .at_once import link_of
from .finding import LOOP, Detection, Link, Skip
from .series import Confidence, Floats, Series
from .stats.leaving import ON_END, OVER, PAIR, beyond_range, beyond_record
from .view import BUDGET, TAIL, Points, RunView
from .vocabulary import metrics

ROWS = 40
"""Values of a metric before it is asked about: what comes first is how learning begins. The limits hold for it."""
FLOOR = 0.1
"""Least range and record, in the logarithm that is measured: a tenth of a value. Engineering default; the limits hold
for it."""
NEAR_ONE = 1e-3
"""What is missing of a share of 1, at least. Engineering default; the limits hold for it."""
TOGETHER = 16
"""Values within which what left is one event: both measures take up to eight to see a step. Engineering default."""
NOT_ASKED = ("advantage/", "reward/", "return/", "episode/", "group/", "eval/", "obs/", "seq/", "data/", "prompt/",
             "tool/", "time/", "perf/", "replay/", "sample/", "async/", "optim/loss_total", "optim/grad_norm",
             "policy/loss_total", "critic/explained_variance", "policy/entropy", "policy/logprob", "optim/n_updates",
             "optim/lr", "optim/actor_lr", "optim/critic_lr", "optim/alpha_lr", "critic/discount", "policy/kl_inv_eta",
             "policy/mmd_coef", "policy/kl_coef", "policy/clip_range", "policy/ent_coef", "dqn/epsilon",
             "sac/target_entropy")  # fmt: skip
"""What follows from everything, is a sum of what several links make, of which healthy runs reach anything, or that
counts or is set, by the beginnings of names."""


@dataclass(frozen=True)
class Reach:
    """How far a metric may leave its past, in ranges and in records, and how far it went in healthy runs at most."""

    range: float
    record: float
    seen_range: float
    seen_record: float


@dataclass(frozen=True)
class Left:
    """A metric that left its past between `lo` and `hi`, `times` ranges or records of it; healthy runs: `usual`."""

    metric: str
    link: Link
    lo: float
    hi: float
    times: float
    usual: float
    in_ranges: bool
    before: float
    now: float
    wait: float
    """Length of `TOGETHER` values, on the clock of the run."""


@cache
def reaches() -> dict[str, Reach]:
    """Return the limits of every metric that has any."""
    text = files("firstbreak").joinpath("data").joinpath("usual_reach.toml").read_text("utf-8")
    return {name: Reach(**entry) for name, entry in tomllib.loads(text)["reach"].items()}


def metrics_of(link: Link) -> tuple[str, ...]:
    """Return the metrics with limits that speak of `link`."""
    return tuple(name for name in reaches() if link_of(name) == link)


def scaled(metric: str, value: Floats) -> Floats:
    """Return `value` [n] on the scale that is measured, as far as it goes [m].

    What cannot exceed 1 becomes the logarithm of what is missing of it, with the sign turned; of others the logarithm
    of the size is taken, up to where the sign changes.
    """
    if metrics()[metric].hi == 1:
        return -np.log(np.maximum(1.0 - value, 0.0) + NEAR_ONE)
    sided = value > 0 if value.size and value[0] > 0 else value < 0
    stop = value.size if sided.all() else int(sided.argmin())
    return np.log(np.abs(value[:stop]))


def measures(metric: str, value: Floats, least: tuple[float, float] = (0.0, 0.0)) -> tuple[Floats, Floats]:
    """Return for each of `value` [n], as far as it goes [m], the ranges and records of its past it lies outside.

    A measure that is nowhere as large as its `least` need not be worked out, and is then -inf throughout.
    """
    scale = scaled(metric, value)
    widest = (scale.max() - scale.min()) / FLOOR if scale.size else 0.0  # no measure exceeds it: no unit is below FLOOR
    nowhere = np.full(scale.size, -np.inf)
    found = (
        beyond_range(scale, FLOOR) if widest >= least[0] else nowhere,
        beyond_record(scale, FLOOR) if widest >= least[1] else nowhere,
    )
    for measure in found:
        measure[:ROWS] = -np.inf
    return found


def left_of(points: Points) -> Left | None:
    """Return where a metric first left its past further than its limits allow.

    Where it did says nothing of what comes later: of a prefix it is what it is of the whole series, or not there yet.
    """
    if points.opening:
        known = points.source.once(_first_left)
        return known[1] if known is not None and known[0] < len(points) else None
    whole = points.total - points.nonfinite == len(points)
    # What was thinned has moves of many lengths; its end has not.
    step, value = (points.step, points.value) if whole else (points.step[-TAIL:], points.value[-TAIL:])
    found = _left(points.metric, step, value)
    return found[1] if found is not None else None


def _first_left(series: Series) -> tuple[int, Left] | None:
    """Return where a metric left its past among as many points as a view shows without leaving any out."""
    step, value = (part if series.finite is None else part[series.finite] for part in (series.step, series.value))
    return _left(series.metric, step[:BUDGET], value[:BUDGET])


def _left(metric: str, step: Floats, value: Floats) -> tuple[int, Left] | None:
    """Return the first place of `value` [n], at `step` [n], that lies too far outside its past, and what left there."""
    known = reaches()[metric]
    ranges, records = measures(metric, value, (known.range, known.record))
    out = np.flatnonzero((ranges >= known.range) | (records >= known.record))
    if not out.size:
        return None
    at = int(out[0])
    in_ranges = bool(ranges[at] >= known.range)
    first = max(0, at - (PAIR * ON_END if in_ranges else OVER))
    return at, Left(
        metric=metric,
        link=link_of(metric),
        lo=float(step[first]),
        hi=float(step[at]),
        times=float((ranges if in_ranges else records)[at]),
        usual=known.seen_range if in_ranges else known.seen_record,
        in_ranges=in_ranges,
        before=float(np.median(value[max(0, first - ROWS) : first + 1])),
        now=float(value[at]),
        wait=float(step[at] - step[max(0, at - TOGETHER)]),
    )


def all_left(view: RunView) -> tuple[Left, ...]:
    """Return the metrics of the whole run that left their past, the first of them in front."""
    found = [left for points in view.once(_looked_at) if (left := points.once(left_of)) is not None]
    return tuple(sorted(found, key=lambda left: (left.hi, left.metric)))


def leader_of(left: tuple[Left, ...]) -> Left | None:
    """Return what names the link: of those that left together with the first, the outermost in the loop."""
    together = [one for one in left if one.hi <= left[0].hi + max(left[0].wait, one.wait)]
    return min(together, key=lambda one: (LOOP.index(one.link), one.hi, one.metric), default=None)


def leaves_past(view: RunView, link: Link) -> Detection | Skip | None:
    """Answer for the rule of `link`: whether a metric of it was the first to leave its past as no healthy run does."""
    if not any(link_of(points.metric) == link for points in view.once(_looked_at)):
        return Skip(f"needs more than {ROWS} rows of a metric of {link} to say what its past is")
    left = view.once(all_left)
    one = leader_of(left)
    if one is None or one.link != link:
        return None
    what = (
        f"lies {one.times:.3g} times the range of its past outside it"
        if one.in_ranges
        else f"moved {one.times:.3g} times its record"
    )
    return Detection(
        message=f"{one.metric} {what}; healthy runs come to {one.usual:.2g}",
        onset=view.onset(one.lo, one.hi),
        metric=one.metric,
        evidence={
            "before": one.before,
            "now": one.now,
            "times_its_past": round(one.times, 2),
            "healthy_runs_reach": one.usual,
            "also_left": ", ".join(other.metric for other in left if other is not one)[:200],
        },
    )


def _looked_at(view: RunView) -> tuple[Points, ...]:
    """Return the metrics of the whole run that have limits and are known for what they are."""
    found = [view.get(name) for name in view.metrics if name in reaches()]
    return tuple(
        points
        for points in found
        if points is not None and len(points) > ROWS and points.source.confidence is not Confidence.GUESS
    )
