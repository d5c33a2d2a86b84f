"""Rules of the link reward_signal, and what they share with the rules about environment and evaluation.

Shared are the order in which metrics stand for one idea, the two-stretch comparison, and how far a run has come.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firstbreak.finding import Onset
from firstbreak.series import Floats
from firstbreak.stats import (
    Comparison,
    compare,
    linear_trend,
    logit,
    median,
    rank_correlation,
    step_change,
    two_piece_onset,
)
from firstbreak.stats.absence import missed, shares_apart
from firstbreak.view import Points, RunView
from firstbreak.vocabulary import traits_of

TRAIN = (
    "reward/train_mean",
    "reward/rollout_mean",
    "reward/episode_return_mean",
    "reward/episode_return",
    "reward/step_mean",
)
"""What the learner is trained to raise, best measure first."""
HELD_OUT = ("reward/eval_mean", "reward/score", "reward/eval_return_mean", "reward/eval_return")
"""Scores on data or episodes that are not trained on."""
OBJECTIVE = ("reward/true_objective", "episode/success_rate")
"""The task's own success, measured on the training samples but not trained on."""
TRUTH = OBJECTIVE + HELD_OUT
LEAST = 8
"""Points of a stretch under which its level has no stated error."""
SEARCHED = 2.0
"""Standard errors that the best of all single steps gains by being the best (calibrated on AR(1) noise)."""
LONGEST = 32
"""Points that the opening and the recent stretch hold at most."""


def stretches(value: Floats) -> tuple[Floats, Floats]:
    """Return the opening and the recent stretch [m] of `value` [n]: a tenth each, 8 to 32 points, never overlapping."""
    size = min(max(LEAST, value.size // 10), LONGEST, value.size // 2)
    return value[:size], value[value.size - size :]


def shifted(step: Floats, value: Floats) -> Comparison:
    """Compare the recent stretch of `value` [n] with its opening; 4 to 15 points fall back to the line through them.

    Where the change lies inside the opening, the stretches cannot show it: then the best single step stands in, with
    two standard errors off for having been searched. Under 4 points the levels are the ends and z is 0.
    """
    if value.size < 4:
        first, last = (float(value[0]), float(value[-1])) if value.size else (float("nan"), float("nan"))
        return Comparison(first, last, last - first, float("inf"), 0.0)
    if value.size < 2 * LEAST:
        line = linear_trend(step, value)
        # With n - 2 degrees of freedom the ratio has heavier tails than a Gaussian: shrink it towards 0.
        z = line.z * (value.size - 3) / (value.size + 1)
        return Comparison(line.start, line.end, line.change, line.error, z)
    before, now = stretches(value)
    found, single = _cautious(compare(before, now), before.size), step_change(step, value)
    if single is None or abs(single.z) - SEARCHED <= abs(found.z):
        return found
    rise = single.after - single.before
    lasting = (median(now) - 0.5 * (single.before + single.after)) * rise > 0
    if not lasting or rise * found.difference < 0:
        return found
    z = single.z - SEARCHED if single.z > 0 else single.z + SEARCHED
    dust = 1e-9 * float(abs(value).max())
    return Comparison(_snap(single.before, dust), _snap(single.after, dust), rise, abs(rise / z), z)


def _cautious(found: Comparison, size: int) -> Comparison:
    """Widen the error for stretches of few points, whose autocorrelation is estimated too low."""
    factor = ((size + 1) / (size - 3)) ** 0.5
    return Comparison(found.reference, found.recent, found.difference, found.error * factor, found.z / factor)


def _snap(level: float, dust: float) -> float:
    """Return 0 for what is only rounding error next to the values it was averaged from."""
    return 0.0 if abs(level) < dust else level


def moved(points: Points) -> Comparison:
    """Compare the recent stretch of a metric with its opening, see `shifted`."""
    return points.once(_moved)


def _moved(points: Points) -> Comparison:
    return shifted(points.step, points.value)


def moved_odds(points: Points) -> Comparison:
    """Compare the log-odds of a fraction, recent stretch against opening."""
    return shifted(points.step, logit(points.value, 100))


def rises(points: Points | None, z: float = 2.0) -> bool:
    """Whether a metric went up, by medians or by the line through it (which sees rare successes that medians miss)."""
    if points is None or len(points) < 4:
        return False
    line = linear_trend(points.step, points.value)
    return moved(points).z >= z or line.z >= z + 0.5 or _blooms(points.value, z)


def _blooms(value: Floats, z: float) -> bool:
    """Whether the mean of the recent stretch lies above the opening's by `z` standard errors."""
    if value.size < 2 * LEAST:
        return False
    before, now = stretches(value)
    error = ((before.var() + now.var()) / before.size) ** 0.5
    return bool(now.mean() - before.mean() > z * max(float(error), 1e-12 * float(abs(now).max())) > 0)


def falls(points: Points | None, z: float = 3.0) -> bool:
    """Whether a metric went down, by medians and by the line through it."""
    if points is None or len(points) < 4:
        return False
    if moved(points).z > -z or linear_trend(points.step, points.value).z > -1:
        return False
    # At a floor, early lucky rows followed by none look like a fall of the mean: the medians must fall too.
    before, now = stretches(points.value) if len(points) >= 2 * LEAST else (points.value[:2], points.value[-2:])
    return median(before) > median(now)


def together(a: Points, b: Points) -> float:
    """Rank correlation of two metrics over the positions at which both were logged."""
    shared = sorted(set(a.step.tolist()) & set(b.step.tolist()))
    if len(shared) < 4:
        return 0.0
    left, right = dict(zip(a.step, a.value, strict=True)), dict(zip(b.step, b.value, strict=True))
    return rank_correlation(np.array([left[s] for s in shared]), np.array([right[s] for s in shared]))


def began(view: RunView, points: Points) -> Onset:
    """Return when a drift of `points` began: the knee of a flat piece and a slope, at the latest the best single step.

    A rise that begins in the first row and levels off has no knee, but its step bounds it.
    """
    knee, single = two_piece_onset(points.step, points.value), step_change(points.step, points.value)
    if knee is None or single is None:
        return view.onset(points.step[0], points.step[-1])
    hi = min(knee.hi, single.hi)
    return view.onset(min(knee.lo, single.lo), hi)


def from_start(view: RunView, points: Points) -> Onset:
    """Return the onset of something that was so from the first point on."""
    return view.onset(points.source.step[0])


def ended(view: RunView) -> bool:
    """Whether no more points will come: the view reaches the end of a log that is not being written."""
    return view.hi == float("inf") and view.log.state not in ("running", "stalled")


def progress(view: RunView) -> float | None:
    """Return the share of the configured total steps that has passed, None when it cannot be told."""
    total = view.number("total_steps")
    if total is None or total <= 0:
        return None
    here = min(view.hi, view.log.last_step)
    if view.clock == "env_steps" or (view.clock == "updates" and "language" in traits_of(view.algorithm)):
        return here / total
    steps = view.log.clocks.convert(here, "env_steps") if view.log.clocks is not None else None
    return None if steps is None else steps / total


def starts_late(points: Points) -> bool:
    """Whether the log begins far from step 0, as that of a resumed run does."""
    return points.cadence > 0 and float(points.source.step[0]) > 20 * points.cadence


def candidates(mask: NDArray[np.bool_], first: int, lasts: int) -> list[int]:
    """Return the places from `first` on from which `mask` [n] holds for `lasts` rows in a row."""
    last = mask.size - lasts + 1
    if last <= first or not mask[first:].any():
        return []
    held = mask[first:last].copy()
    for shift in range(1, lasts):
        held &= mask[first + shift : last + shift]
    return (np.flatnonzero(held) + first).tolist()


def clamped(value: Floats, outward: float, rows: int, lasts: int) -> int | None:
    """Return where the extreme of each row, never twice the same, became one number: a bound that was not there.

    A bound cuts off what lay beyond it; the reward of an end that has begun to occur in every row is one number as
    well, and lies farther out than what came before.

    Args:
        value: Farthest reward of each row [n].
        outward: -1 for the least of each row, 1 for the largest.
        rows: Earlier rows that are needed.
        lasts: Rows in a row that must hold the number.
    """
    same = np.append(np.diff(value) == 0, False)
    for place in candidates(same, rows, lasts - 1):
        before = value[:place]
        new = np.unique(before).size == before.size and value[place] not in before
        return place if new and outward * median(before) > outward * float(value[place]) else None
    return None


def at_its_best(level: Points | None, at: float, rows: int) -> bool:
    """Whether rewards that no longer differ from step `at` on lie where learning had brought them: at the best so far.

    A scorer that begins to answer one thing for all leaves the level that the policy had earned.
    """
    if level is None:
        return False
    before, now = level.value[level.step < at], level.value[level.step >= at]
    if before.size < rows or not now.size:
        return False
    usual = median(np.abs(np.diff(before[-rows:])))
    return bool(0 <= now[0] - before.max() <= usual)


def all_at_the_bound(level: Points, spread: Points, best: Points, at: float, rows: int, few: float) -> bool:
    """Whether from step `at` on all rewards are the best single one of before, and at least a share of `few` changed.

    Args:
        level: Mean of each row's rewards; nothing is said where it is logged at other rows than `spread`.
        spread: Their standard deviation.
        best: The largest of them.
        at: Step of the first row whose rewards no longer differ.
        rows: Rows before it that say what was usual; the one just before is left out, for it may hold both.
        few: Share of single rewards that a policy may have changed by itself.
    """
    place, peaks = int(np.searchsorted(spread.step, at)), best.value[best.step < at]
    if not np.array_equal(level.step, spread.step) or place < rows or not peaks.size:
        return False
    bound = float(peaks.max())
    if not np.allclose(level.value[place : place + 2], bound, rtol=1e-6, atol=0.0):  # float32 means
        return False
    recent = slice(place - rows, place - 1)
    return median(shares_apart(bound - level.value[recent], spread.value[recent])) <= few


def by_chance(level: Points | None, spread: Points, ends: tuple[Points | None, ...], place: int, rows: int) -> bool:
    """Whether rewards may all be the same from row `place` on because a rare one has not occurred for a while.

    They are then what most were before: an end of every row, or, where no ends are given, 0 beside means of one sign.
    Unknown counts as no.
    """
    if level is None or not np.array_equal(level.step, spread.step):
        return False
    recent, now = slice(place - rows, place - 1), float(level.value[place])
    apart = level.value[recent] - now
    known = [p.value[recent] for p in ends if p is not None and np.array_equal(p.step, spread.step)]
    common = any(np.allclose(end, now, rtol=1e-6, atol=0.0) for end in known) if ends else now == 0
    if not common or not (apart.min() > 0 or apart.max() < 0):
        return False
    differs = np.flatnonzero(spread.value[place:] > spread.value[place])
    silent = int(differs[0]) if differs.size else spread.value.size - place
    return not missed(np.abs(apart), spread.value[recent], silent, place)


def differ_again(spread: Floats, place: int, rows: int, share: float) -> bool:
    """Whether rewards that were all the same at row `place` of `spread` [n] differ again within `rows` rows.

    All were right by chance then, and no scorer fell silent. They differ where the spread is at least `share` of the
    least before; the row next to `place` may hold both and does not count.
    """
    least = float(spread[: place - 1].min())
    return bool(spread[place : place + rows].max() >= share * least)


def solved(view: RunView, level: Points | None, spread: Points, place: int, rows: int, few: float) -> bool:
    """Whether rewards no longer differ from row `place` on because all are as good as the policy had come to."""
    at, best = float(spread.step[place]), view.get("reward/env_max", "reward/train_max")
    if at_its_best(level, at, rows):
        return True
    return level is not None and best is not None and all_at_the_bound(level, spread, best, at, rows, few)


def mixed_otherwise(view: RunView, level: Points, place: int, rows: int) -> bool:
    """Whether row `place` may hold the same single rewards as the `rows` before it, only in other shares.

    Then its mean lies less than one of their standard deviations from the last, and no farthest reward lies that much
    beyond theirs. The row just before may hold both and is left out of what was usual. Unknown counts as no.
    """
    ends = [view.get(f"reward/env_{name}") for name in ("min", "max", "std")]
    if any(p is None or not np.array_equal(p.step, level.step) for p in ends):
        return False
    low, high, spread = (p.value for p in ends if p is not None)
    before = slice(place - rows, place - 1)
    beyond = (low[before].min() - low[place], high[place] - high[before].max(), abs(np.diff(level.value)[place - 1]))
    inward = (low[place] - low[before].max(), high[before].min() - high[place])
    return bool(max(*beyond, *inward) < median(spread[before]))
