"""The rule `observation-shift`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import borne_out, median
from firstbreak.stats.change import surpassed
from firstbreak.view import Points, RunView

STILL = "obs/constant_frac"
MEASURES = ("obs/scale_growth", "obs/shift", STILL)


@dataclass(frozen=True)
class Params:
    """Thresholds of `observation-shift`. Engineering defaults where no source is named."""

    rows: int = 8
    """Earlier rows that say what is usual: the shortest stretch with a stated error."""
    times: float = 2.0
    """How many times the largest earlier value the rows now must reach."""
    scale_nats: float = 1.2
    """Least change of an entry's spread: a factor of 3.3, more than a policy that learns changes within a row."""
    shift_sd: float = 2.5
    """Least distance of the mean observation from the usual one, in its own standard deviations."""
    constant_frac: float = 0.3
    """Least fraction of entries that stand still, where at most half as many did before: blank observations."""
    decisive: float = 3.0
    """How many times those thresholds one row alone must reach (an entry's spread times 37); for entries that stand
    still, all of them."""
    all_of_them: float = 0.999
    """Fraction of entries that stand still: all, but for rounding."""
    longest: float = 1000.0
    """Steps of an episode where no lengths are logged: the limit of most tasks of Gymnasium."""
    varies: float = 0.5
    """Share of the usual spread of a row's rewards from which on they vary as they did."""
    lasts: int = 2
    """Rows in a row that must show it. The reference follows within some ten rows, then it is usual."""


PPO = synth.like("PPO")
ALONE = synth.like("PPO", clock="env_steps", step=64.0)
USUAL = {"obs/scale_growth": synth.flat(0.2, 0.3), "obs/shift": synth.flat(0.3, 0.3)}
CASES = (
    fires(
        "observations lose their scale",
        lambda: PPO(USUAL | {"obs/scale_growth": synth.after(0.6, synth.flat(4.6, 0.1), synth.flat(0.2, 0.3))}),
    ),
    fires(
        "entries change places",
        lambda: PPO(USUAL | {"obs/shift": synth.after(0.6, synth.flat(6.0, 0.1), synth.flat(0.3, 0.3))}),
    ),
    fires(
        "observations go blank",
        lambda: synth.like("PPO", config={"n_envs": 8})(USUAL | {STILL: synth.jump(0.0, 1.0, 0.6, 0.0)}),
    ),
    fires(
        "the same of one copy whose rewards go on as they were",
        lambda: ALONE({STILL: synth.jump(0.0, 1.0, 0.6, 0.0), "reward/env_std": synth.flat(0.4, 0.1)}),
    ),
    fires(
        "the same of one copy for longer than an episode",
        lambda: ALONE({STILL: synth.jump(0.0, 1.0, 0.6, 0.0), "episode/length_mean": synth.flat(200.0, 0.1)}),
    ),
    near_miss(
        "the only agent stands at a wall for two rows, within an episode of 200 steps",
        lambda: ALONE(
            {STILL: synth.spikes(0.0, 1.0, at=(0.6, 0.604), noise=0.0), "episode/length_mean": synth.flat(200.0, 0.1)}
        ),
    ),
    healthy("observations drift as the policy learns", lambda: PPO(USUAL)),
    near_miss("one odd row", lambda: PPO(USUAL | {"obs/shift": synth.spikes(0.3, 6.0, at=(0.7,), noise=0.3)})),
    near_miss(
        "it moves as much all the time",
        lambda: PPO({"obs/scale_growth": synth.flat(2.0, 0.3), "obs/shift": synth.flat(3.0)}),
    ),
)


@rule(
    "ENV015",
    "observation-shift",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    any_of=(MEASURES,),
    params=Params(),
    cases=CASES,
    implies=("explained-variance-collapse", "return-collapse", "value-loss-explosion", "critic-not-learning"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Observations are suddenly distributed differently from those of the rows before.

    What it means:
        From one row to the next the mean or the spread of an entry left the range in which it had moved so far, and
        stayed out. A policy that learns moves observations gradually; this was a step.

    Why it matters:
        Networks answer to inputs they were trained on. Whatever return, value or gradient do afterwards follows.

    Usual causes:
        A normaliser that was reset, frozen or loaded from elsewhere; a sensor, wrapper or unit that changed; entries in
        another order; frames that are blank; another level or map.

    What to try:
        Compare a saved observation from before with one from now, entry by entry; check what was loaded at that step.

    When it is harmless:
        A curriculum step or domain randomisation that you switched on yourself: log `env/curriculum`. An agent that
        stands at a wall sees the same for as long as its episode lasts: nothing is said of that.

    References:
        Rabanser, Guennemann and Lipton 2019, arXiv 1810.11953 (detecting dataset shift); Huang et al. 2022, "The 37
        implementation details of PPO" (observation normalisation).
    """
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()):
        return Skip("a curriculum moves the observations")
    leasts = (params.scale_nats, params.shift_sd, params.constant_frac)
    found = [hit for name, least in zip(MEASURES, leasts, strict=True)
             if (hit := stepped(view, view.get(name), least, params)) is not None]  # fmt: skip
    if not found:
        known = max((len(p) for p in (view.get(name) for name in MEASURES) if p is not None), default=0)
        return Skip("too few rows to say what is usual") if known <= params.rows else None
    points, place, usual = max(found, key=lambda hit: float(hit[0].value[hit[1]]) / hit[2])
    now = float(points.value[place])
    words = {
        "obs/scale_growth": f"an entry of the observation spreads {np.exp(now):.3g} times as far as before",
        "obs/shift": f"the mean observation moved by {now:.3g} sd in one row; {usual:.2g} was the most before",
        STILL: f"{now:.0%} of the observation's entries stand still; {usual:.0%} was the most before",
    }
    return Detection(
        message=words[points.metric],
        onset=view.onset(points.step[place - 1], points.step[place]),
        metric=points.metric,
        evidence={"moved": now, "most_before": usual, "typical_before": median(points.value[:place])},
    )


def stepped(view: RunView, points: Points | None, least: float, params: Params) -> tuple[Points, int, float] | None:
    """Return (points, place of the step, largest value before it), or None where there was no step."""
    if points is None or len(points) <= params.rows:
        return None
    place = surpassed(
        blank(view, points, params) if points.metric == STILL else points.value,
        rows=params.rows,
        least=least,
        times=params.times,
        lasts=params.lasts,
        decisive=params.decisive,
    )
    return None if place is None else (points, place, max(float(points.value[:place].max()), 1e-9))


def blank(view: RunView, still: Points, params: Params) -> Floats:
    """Return the shares [n] of `still`, without rows in which an agent may have stood still, as one at a wall does.

    It does so in one copy, and earns the same with every step. Where several copies see the same or rewards vary as
    they did, the observation is blank; and where what is seen broke off from what was foreseen. Where nothing is
    foreseen, it is so after more steps than an episode has.
    """
    value, step = borne_out(still.step, still.value, 0.0).copy(), still.step
    stands = value >= params.all_of_them
    if not stands.any() or (view.number("n_envs") or 1) > 1:
        return value
    ends = np.flatnonzero(np.diff(np.concatenate([[False], stands, [False]]).astype(int)))
    for start, stop in zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True):
        before, last = float(step[max(start - 1, 0)]), float(step[stop - 1])
        broke = broke_off(view, before, last, params)
        if not (last - before > longest(view, params) if broke is None else broke) and not vary(
            view, before, last, params
        ):
            value[start:stop] = 0.0
    return value


def vary(view: RunView, before: float, last: float, params: Params) -> bool:
    """Whether rewards of the rows in (before, last] vary about as much as they usually do."""
    spread = view.get("reward/env_std")
    if spread is None or not len(spread):
        return False
    here = spread.value[(spread.step > before) & (spread.step <= last)]
    return bool((here > params.varies * median(spread.value)).any())


def broke_off(view: RunView, before: float, last: float, params: Params) -> bool | None:
    """Whether the next observation was foreseen far worse in [before, last] than ever; None where it is not known."""
    error = view.get("env/dynamics_surprise")
    if error is None or int((error.step < before).sum()) < params.rows:
        return None
    here = error.value[(error.step >= before) & (error.step <= last)]
    return bool((here > params.times * error.value[error.step < before].max()).any())


def longest(view: RunView, params: Params) -> float:
    """Return how many steps an episode may have."""
    length = view.get("episode/length_mean")
    known = length.max if length is not None and len(length) else params.longest
    return max(known, view.number("max_episode_steps") or 0.0)
