"""The rule `kl-clip-inconsistent`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `kl-clip-inconsistent`; engineering defaults where no source is named."""

    expected: float = 0.3
    """Clip fraction that must be expected (or seen) before the two are compared: below it, different slices of the
    update explain a difference."""
    factor: float = 5.0
    """How much less may be clipped than KL implies: heavy tails of the ratio do that."""
    kl_factor: float = 10.0
    """How much smaller than implied by the clip fraction KL may be."""
    updates: int = 10
    """Consecutive updates that disagree."""


PPO = synth.like("PPO")
FRACTION, KL = "policy/clip_fraction", "policy/kl_old"

CASES = (
    fires("large KL, nothing clipped", lambda: PPO({KL: synth.flat(0.5, 0.1), FRACTION: synth.flat(0.01, 0.1)})),
    fires("half clipped, KL divided away", lambda: PPO({KL: synth.flat(1e-4), FRACTION: synth.flat(0.5)})),
    healthy("as a Gaussian ratio has it", lambda: PPO({})),
    near_miss("half of what is implied", lambda: PPO({KL: synth.flat(0.03), FRACTION: synth.flat(0.17)})),
    near_miss("a single odd update", lambda: PPO({KL: synth.spikes(0.01, 2.0, at=(0.5,))})),
)


def implied_clip_fraction(kl: float, epsilon: float) -> float:
    """Share of samples outside [1 - epsilon, 1 + epsilon] when the log-ratio is Gaussian with KL `kl` in nats.

    A log-ratio with E[ratio] = 1 under the old policy is N(-kl, 2 kl).
    """
    if kl <= 0:
        return 0.0
    spread = math.sqrt(2 * kl)
    low = math.log(1 - epsilon) if epsilon < 1 else -math.inf
    above = 0.5 * math.erfc((math.log(1 + epsilon) + kl) / spread / math.sqrt(2))
    below = 0.5 * math.erfc(-(low + kl) / spread / math.sqrt(2))
    return above + below


@cache
def law(epsilon: float) -> tuple[Floats, Floats]:
    """The law on a grid: KL in nats [m] from 1e-8 to 1e3, and the clip fraction [m] that goes with each."""
    kl = np.geomspace(1e-8, 1e3, 512)
    return kl, np.array([implied_clip_fraction(float(k), epsilon) for k in kl])


def implied_kl(fraction: Floats, epsilon: float) -> Floats:
    """The KL in nats [n] at which a Gaussian log-ratio has the clip fractions `fraction` [n]; about 0 for 0."""
    kl, fractions = law(epsilon)
    return np.interp(fraction, fractions, kl, left=0.0)


def clip_range(view: RunView) -> float:
    """The clip range in force: logged, configured, or 0.2 (Schulman et al. 2017)."""
    logged = view.get("policy/clip_range")
    if logged is not None and len(logged) and logged.last > 0:
        return logged.last
    for key in ("clip_range", "clip_range_high", "clip_range_low"):
        value = view.number(key)
        if value is not None and value > 0:
            return value
    return 0.2


@rule(
    "POL004",
    "kl-clip-inconsistent",
    link=Link.POLICY_UPDATE,
    component=Component.LOGGING,
    severity=Severity.INFO,
    needs=(KL, FRACTION),
    when=("ppo_clip", "control"),
    min_points=10,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """KL and clip fraction of the same updates cannot both be right, unless the ratios have very heavy tails.

    What it means:
        For a Gaussian log-ratio KL fixes the clip fraction (0.01 nats go with 15 % at a range of 0.2). Here one is far
        off what the other implies.

    Why it matters:
        Either a few samples dominate the ratio, or one of the two numbers is not what its name says; both are used to
        set step sizes.

    Usual causes:
        Heavy ratio tails; metrics divided by the planned instead of the made number of updates; KL per sequence beside
        a clip fraction per token; log-probability of another action than the stored one.

    What to try:
        Log the largest ratio and the effective sample size of one update; recompute both metrics on one batch.

    When it is harmless:
        Frameworks that log KL for the last minibatch only differ by a factor of a few, which is allowed for.

    References:
        Schulman 2020, "Approximating KL divergence" (joschu.net/blog/kl-approx.html).
    """
    kl, clip = view.get(KL), view.get(FRACTION)
    assert kl is not None
    assert clip is not None
    epsilon = clip_range(view)
    step, at_kl, at_clip = np.intersect1d(kl.step, clip.step, return_indices=True)
    nats, seen = kl.value[at_kl], clip.value[at_clip]
    grid, fractions = law(epsilon)
    implied = np.interp(nats, grid, fractions, left=0.0)
    few = (implied >= params.expected) & (seen < implied / params.factor)
    many = (seen >= params.expected) & (np.interp(params.kl_factor * nats, grid, fractions, left=0.0) < seen)
    over = persistent_onset(step, few, params.updates) or persistent_onset(step, many, params.updates)
    if over is None:
        return None
    since = step >= over[1]
    return Detection(
        message=f"clip fraction {median(seen[since]):.2g} where KL {median(nats[since]):.2g} nats implies "
        f"{median(implied[since]):.2g}",
        onset=view.onset(*over),
        metric=clip.metric,
        evidence={
            "clip_frac": median(seen[since]),
            "implied_frac": median(implied[since]),
            "kl_nats": median(nats[since]),
        },
    )
