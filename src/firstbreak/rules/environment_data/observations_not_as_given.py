"""The rule `observations-not-as-given`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import identity_broken, median
from firstbreak.view import Points, RunView

FIT, COPY, ENTRY = "data/obs_fit", "data/obs_copy_fit", "data/obs_entry_fit"
WHOSE = {FIT: "stored observations", COPY: "stored observations of one copy", ENTRY: "stored values of one entry"}


@dataclass(frozen=True)
class Params:
    """Thresholds of `observations-not-as-given`: engineering defaults; right is 1 by construction."""

    right: float = 0.99
    """What the share must be before: all but rounding, and what a normaliser cuts off."""
    off: float = 0.8
    """Share from which on it is broken. A normaliser that begins anew comes to 0.85 for a row."""
    held: int = 8
    """Rows on end in which it was right: where a wrapper changes it by design, nothing is said."""
    lasts: int = 2
    """Rows on end in which it is broken."""
    far: float = 0.6
    """Share at which one row is enough, unless it heals: no chance breaks an identity of dozens of steps so far. Where
    one of three or four entries tells nothing for a row, healthy runs come to 2/3 and 3/4, and to no less (of 741 in
    which it was right before, 2026-11-27)."""
    healed: int = 2
    """Rows on end that are right after such a row: then it was that row alone."""
    many: int = 6
    """Rows on end of which none need be so far off as `off`, where none is right and their median is: entries that are
    alike (two speeds that change places) share most of their variance in some rows."""
    entry: float = 0.4
    """Share of a single entry from which on it is broken: under normalisers, in loops without a mistake (75 runs of
    five tasks, 1,587 rows, policies that wander, jump or are drawn), the worst came to 0.62, and for one row."""
    entry_right: float = 0.9
    """What the share of the worst entry must be before: what a normaliser that moves on leaves of it in 99 rows of
    100 there."""
    entry_lasts: int = 3
    """Rows on end in which a single entry is broken: the worst of many is now and then far off by chance."""


PPO = synth.like("PPO")
EXACT = synth.clipped(synth.flat(1.0, 1e-7), 0, 1)
CASES = (
    fires(
        "observations of other steps from the middle on",
        lambda: PPO({FIT: synth.after(0.6, synth.clipped(synth.flat(0.3, 0.05), 0, 1), EXACT)}),
    ),
    fires(
        "two entries that are much alike change places",
        lambda: PPO({FIT: synth.after(0.6, synth.clipped(synth.flat(0.75, 0.07), 0, 0.95), EXACT)}),
    ),
    fires(
        "one copy of eight, which have a normaliser each",
        lambda: PPO(
            {
                FIT: synth.clipped(synth.flat(0.95, 0.02), 0, 1),
                COPY: synth.after(0.6, synth.clipped(synth.flat(0.3, 0.05), 0, 1), EXACT),
            }
        ),
    ),
    fires(
        "one sensor of eleven is mistaken",
        lambda: PPO(
            {
                FIT: synth.after(0.6, synth.clipped(synth.flat(0.91, 0.005), 0, 1), EXACT),
                ENTRY: synth.after(0.6, synth.clipped(synth.flat(0.05, 0.03), 0, 1), EXACT),
            }
        ),
    ),
    healthy("as it should be", lambda: PPO({FIT: EXACT})),
    healthy(
        "copies with a normaliser each",
        lambda: PPO({FIT: synth.clipped(synth.flat(0.95, 0.02), 0, 1), COPY: EXACT}),
    ),
    near_miss(
        "one copy comes for a row to where its normaliser has not been",
        lambda: PPO({FIT: EXACT, COPY: synth.spikes(1.0, 0.6, (0.6,), 0.0)}),
    ),
    near_miss(
        "a wrapper that mixes entries from the start", lambda: PPO({FIT: synth.clipped(synth.flat(0.4, 0.1), 0, 1)})
    ),
    near_miss(
        "a normaliser that comes to move within a row",
        lambda: PPO({FIT: synth.after(0.6, synth.clipped(synth.flat(0.9, 0.05), 0, 1), EXACT)}),
    ),
    near_miss(
        "one entry comes for two rows to where its normaliser has not been",
        lambda: PPO({FIT: EXACT, ENTRY: synth.spikes(1.0, 0.3, (0.6, 0.6 + 1 / 119), 0.0)}),
    ),
    near_miss(
        "an entry to which a wrapper adds noise by design",
        lambda: PPO({FIT: EXACT, ENTRY: synth.clipped(synth.flat(0.3, 0.1), 0, 1)}),
    ),
    near_miss("one odd row", lambda: PPO({FIT: synth.spikes(1.0, 0.66, (0.6,), 0.0)})),
    near_miss("one row far off, and all right since", lambda: PPO({FIT: synth.spikes(1.0, 0.3, (0.6,), 0.0)})),
    fires(
        "every other row is of other steps",
        lambda: PPO({FIT: synth.spikes(1.0, 0.3, tuple(0.6 + place * 2 / 119 for place in range(20)), 0.0)}),
    ),
)


@rule(
    "ENV111",
    "observations-not-as-given",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    any_of=((FIT, COPY, ENTRY),),
    min_points=10,
    params=Params(),
    cases=CASES,
    implies=(
        "smooth-decline",
        "return-collapse",
        "reward-flat",
        "ratio-off-at-first-minibatch",
        "rollout-of-other-states",
        "replay-chain-broken",
        "kl-overshoot",
        "explained-variance-collapse",
        "critic-moves-at-once",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The observations that are learnt from are no longer those that the environment gave at the same steps.

    What it means:
        Entry by entry, what the rollout or the replay buffer holds followed from what the environment gave, but for a
        scale and an offset. From one row on it does not, though the environment itself is as before. Copies that have
        a normaliser each are asked one by one, and the worst counts; so does the worst of many entries.

    Why it matters:
        The policy acts on, or is trained with, something else than the state it is in.

    Usual causes:
        An array that is written over before it is stored; observations of the step or rollout before; entries that
        change places; noise, a mask or a cut that a wrapper adds; two buffers that change places.

    What to try:
        Print, for a few steps, the observation that `step` returned beside the one that is stored.

    When it is harmless:
        An augmentation of observations that begins by plan.

    References:
        None; the rule compares two quantities that are equal by construction.
    """
    return parted(view, FIT, params) or parted(view, COPY, params) or parted(view, ENTRY, params)


def parted(view: RunView, name: str, params: Params) -> Detection | None:
    """Answer for all copies together (`FIT`), for the worst of them (`COPY`), or for the worst entry (`ENTRY`)."""
    points = view.get(name)
    if points is None:
        return None
    right = points.value >= (params.entry_right if name == ENTRY else params.right)
    off, lasts = (params.entry, params.entry_lasts) if name == ENTRY else (params.off, params.lasts)
    onset = identity_broken(points.step, right, points.value <= off, held=params.held, lasts=lasts)
    known = (onset, *_sooner(points, right, params)) if name == FIT else (onset,)
    onset = min((one for one in known if one is not None), default=None)
    if onset is None:
        return None
    now = median(points.value[points.step >= onset[1]])
    return Detection(
        message=f"{WHOSE[name]} share {now:.0%} of their variance with the environment's; it was all",
        onset=view.onset(*onset),
        metric=name,
        evidence={"shared_frac": now},
    )


def _sooner(points: Points, right: NDArray[np.bool_], params: Params) -> list[tuple[float, float] | None]:
    """Return where one row is enough, and where rows are off in their median alone."""
    far = (points.value <= params.far) & ~healed(right, params.healed)
    at_once = identity_broken(points.step, right, far, held=params.held, lasts=1)
    lastly = identity_broken(points.step, right, middling(points.value, right, params), held=params.held, lasts=1)
    return [at_once, lastly]


def healed(right: NDArray[np.bool_], rows: int) -> NDArray[np.bool_]:
    """Return after which rows [n] the next `rows` are all right."""
    found = np.zeros(right.size, dtype=np.bool_)
    if right.size > rows:
        found[:-rows] = np.lib.stride_tricks.sliding_window_view(right[1:], rows).all(1)
    return found


def middling(value: Floats, right: NDArray[np.bool_], params: Params) -> NDArray[np.bool_]:
    """Return from which rows [n] on `many` are none of them right, and off in their median."""
    found = np.zeros(value.size, dtype=np.bool_)
    if value.size >= params.many:
        wrong = ~np.lib.stride_tricks.sliding_window_view(right, params.many).any(1)
        medians = np.median(np.lib.stride_tricks.sliding_window_view(value, params.many), axis=1)
        found[: wrong.size] = wrong & (medians <= params.off)
    return found
