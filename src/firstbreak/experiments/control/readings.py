"""Margins and symptoms that control experiments share."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from ..experiment import Measures, Option, Pair
from ..statistics import interval
from ..subject import Subject

EXPECT = Option("expect", "the score of a healthy run: sets the scale, and says whether the control fails", number=True)
SPAN_FRAC = 0.25
"""The smallest effect that matters, as a share of the widest distance between scores that was seen (random policy,
untrained start, both arms, and what the user expects). Engineering default: a fault that costs less is not why a run
fails."""
SPREAD_FRAC = 0.5
"""The same in units of the spread of single episodes' returns under a random policy: half a standard deviation is a
medium effect (Cohen 1988, section 2.2)."""

MOST_FRAC = 0.5
"""The largest effect that may be asked for, as a share of the same distance. Engineering default."""


def share_of_span(pairs: Sequence[Pair], subject: Subject) -> float:
    """Return the larger of a quarter of the span of scores and half the spread of a random policy's returns.

    Where the user says what a healthy run scores, the spread counts for half of the span at most: of rewards that are
    mostly noise it is wider than all that there is to gain, and no effect could be as large.
    """
    levels = [fmean(p.control[k] for p in pairs) for k in ("score", "start", "random") if k in pairs[0].control]
    levels += [fmean(p.changed[k] for p in pairs) for k in ("score", "start", "random") if k in pairs[0].changed]
    expected = subject.given.get("expect")
    if expected is not None:
        levels.append(float(expected))
    spread, span = SPREAD_FRAC * fmean(p.control.get("random_sd", 0.0) for p in pairs), max(levels) - min(levels)
    found = max(SPAN_FRAC * span, spread if expected is None else min(spread, MOST_FRAC * span))
    return found if found > 0 else 1e-9 + 1e-3 * abs(levels[0])


def falls_short(controls: Sequence[Measures], subject: Subject) -> str:
    """The symptom "it does not learn": below what the user expects, or else no better than its start.

    With `--with expect=SCORE` the mean must lie below it, with its 95 % interval; without, the gain over the untrained
    start must not exceed half the spread of a random policy's returns.
    """
    scores = [c["score"] for c in controls]
    expected = subject.given.get("expect")
    if expected is not None:
        seen = interval(scores, 0.05)
        if seen.mean < float(expected) and (seen.hi < float(expected) or _share_below(scores, float(expected)) >= 0.8):
            return ""
        said = f"it scores {seen.mean:.4g} [{seen.lo:.4g}, {seen.hi:.4g}], {float(expected):.4g} were expected"
        if seen.mean < float(expected):  # below, by what may be chance
            return f"{said}: so few seeds cannot tell whether that is less; give more (--seeds {4 * len(scores)})."
        return f"{said}."
    if not _learns(controls):
        return ""
    return (
        f"it learns, from {fmean(c['start'] for c in controls):.4g} to {fmean(scores):.4g}. If that is too little, say "
        "what is expected: --with expect=SCORE."
    )


def learns(controls: Sequence[Measures], subject: Subject) -> str:
    """The symptom "its score rises": clearly above its untrained start."""
    del subject
    if _learns(controls):
        return ""
    start, score = fmean(c["start"] for c in controls), fmean(c["score"] for c in controls)
    return f"its score does not rise: {start:.4g} untrained, {score:.4g} after training."


def follows_reward(effects: Sequence[float], subject: Subject) -> str:
    """Whether a trainer goes up its reward: paid the negative of it, it ends lower, with its 95 % interval.

    That is what a flip that is not there looks like. A trainer that ends alike either way goes nowhere that could be
    seen, be it dead, slow, or turned round late: its direction stays open.
    """
    del subject
    seen = interval(effects, 0.05)
    if seen.hi < 0:
        return ""
    tells = "makes less difference than would matter" if seen.lo > 0 else "makes no difference that could be told"
    return (
        f"The sign of the reward {tells}: reversed, the score changes by "
        f"{seen.mean:.3g} [{seen.lo:.3g}, {seen.hi:.3g}]. A trainer that does not go up its reward either has not "
        "shown which way it goes: train longer, or look first whether it learns at all (overfit-one-batch)."
    )


def _learns(controls: Sequence[Measures]) -> bool:
    gains = [c["score"] - c["start"] for c in controls]
    bar = SPREAD_FRAC * fmean(c.get("random_sd", 0.0) for c in controls)
    seen = interval(gains, 0.05)
    return seen.mean > bar and (seen.lo > bar or _share_above(gains, bar) >= 0.8)


def _share_above(values: Sequence[float], bar: float) -> float:
    return float(np.mean([v > bar for v in values]))


def _share_below(values: Sequence[float], bar: float) -> float:
    return float(np.mean([v < bar for v in values]))


def gain(arm: Measures) -> float:
    """The score above the untrained start."""
    return arm["score"] - arm["start"]
