"""The rule `limit-caps-return`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import RunView

LENGTH, CUT = "episode/length_mean", "episode/truncated_frac"
MEAN, STD = "reward/env_mean", "reward/env_std"


@dataclass(frozen=True)
class Params:
    """Thresholds of `limit-caps-return`. Engineering defaults."""

    rows: int = 10
    """Rows on end with exactly the same length."""
    opening: int = 8
    """First rows, of a policy that has learned next to nothing."""
    reached: float = 0.9
    """Share of that length which untrained episodes reach."""
    horizon: float = 0.5
    """Share of the discount's horizon 1 / (1 - gamma) that an episode must stay below."""


PPO = synth.like("PPO", config={"gamma": 0.99})
SAME = {MEAN: synth.constant(1.0), STD: synth.constant(0.0)}
CAPPED = synth.clipped(synth.ramp(11.7, 13.0, 0.01), 0, 12)
CASES = (
    fires("cut after 12 steps that anyone lasts", lambda: PPO({**SAME, LENGTH: CAPPED})),
    healthy("episodes grow", lambda: PPO(SAME)),
    near_miss("solved from the first row on", lambda: PPO({**SAME, LENGTH: synth.constant(500.0)})),
    near_miss("twelve steps, and each may pay more or less", lambda: PPO({LENGTH: CAPPED, STD: synth.flat(0.3, 0.1)})),
    near_miss(
        "lasting is what was learned",
        lambda: PPO({**SAME, LENGTH: synth.clipped(synth.ramp(5.0, 30.0, 0.01), 0, 12)}),
    ),
)


@rule(
    "ENV027",
    "limit-caps-return",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    needs=(LENGTH, MEAN, STD),
    needs_config=("gamma",),
    when=("control",),
    min_points=18,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("reward-flat", "reward-constant", "value-scale-mismatch", "critic-not-learning"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Every episode has the same few steps, each of which pays the same: the return is fixed, whatever is done.

    What it means:
        An untrained policy already lasts to where all episodes are cut. Steps pay one and the same reward, so that the
        return cannot tell a good policy from a bad one; and the discount looks far beyond the cut.

    Why it matters:
        Nothing is left to learn. What an action does comes after the end of the episode.

    Usual causes:
        A time limit that is too short, in other units (frames, seconds), or set twice.

    What to try:
        Print the limit of every wrapper; let one episode run without limits.

    When it is harmless:
        In tasks that are nothing but a time limit.

    References:
        Pardo et al. 2018, "Time limits in reinforcement learning", arXiv 1712.00378.
    """
    length, paid, spread = view.get(LENGTH), view.get(MEAN), view.get(STD)
    assert length is not None
    assert paid is not None
    assert spread is not None
    gamma, cut = view.number("gamma"), view.get(CUT)
    if gamma is None or not 0 <= gamma < 1 or spread.max > 0 or paid.min <= 0 or paid.max > paid.min:
        return None
    tail, limit = length.value[-params.rows :], length.last
    if len(length) < params.rows + params.opening or tail.min() < tail.max() or length.max > limit:
        return None
    if limit > params.horizon / (1 - gamma) or limit <= 1 or (cut is not None and len(cut) and cut.last < 1):
        return None
    if median(length.value[: params.opening]) < params.reached * limit:
        return None
    first = int(np.argmax(length.value >= limit))
    return Detection(
        message=f"all episodes last {limit:.4g} steps of equal pay; gamma {gamma:g} looks {1 / (1 - gamma):.4g} ahead",
        onset=view.onset(float(length.source.step[0]), float(length.step[first])),
        metric=LENGTH,
        evidence={"limit_steps": limit, "opening_steps": median(length.value[: params.opening]), "gamma": gamma},
    )
