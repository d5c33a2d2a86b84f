"""The rule `critic-gradient-explosion`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset, robust_z, safe_log
from firstbreak.view import RunView

from .value_loss_explosion import return_growth


@dataclass(frozen=True)
class Params:
    """Thresholds of `critic-gradient-explosion`; engineering defaults where no source is named."""

    factor: float = 100.0
    """Gradient norm over its own opening, beyond the growth of the returns (the gradient of a squared error grows with
    the error). Engineering default."""
    z: float = 6.0
    """Least robust z of the logarithm against the opening."""
    opening: int = 16
    """Points that make the opening."""
    updates: int = 5
    """Consecutive points beyond; single bad batches are not judged."""


SAC = synth.like("SAC")
NORM = "optim/critic_grad_norm"

CASES = (
    fires("a ten thousandfold", lambda: SAC({NORM: synth.geometric(5, 5e5, 0.1, begin=0.4)})),
    healthy("steady", lambda: SAC({})),
    near_miss("single bad batches", lambda: SAC({NORM: synth.spikes(5, 5e4, at=(0.4, 0.7))})),
    near_miss("tenfold growth while values grow", lambda: SAC({NORM: synth.geometric(2, 30, 0.2)})),
    near_miss(
        "grows with the return",
        lambda: SAC({NORM: synth.geometric(1, 300, 0.1), "reward/episode_return_mean": synth.geometric(1, 300, 0.02)}),
    ),
)


@rule(
    "CRT009",
    "critic-gradient-explosion",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    any_of=((NORM, "critic/grad_norm"),),
    min_points=30,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("grad-norm-explosion", "nonfinite-metric"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The critic's gradient norm grew a hundredfold over its opening and stayed there.

    What it means:
        The critic's error, not one bad batch, drives ever larger gradients.

    Why it matters:
        With clipping every step has the same size whatever the batch says; without it the weights jump.

    Usual causes:
        Divergent bootstrapping; reward or return scale jump; configured clipping that is never applied.

    What to try:
        Replay a stored batch at learning rate 0 and split the norm by loss term and layer.

    When it is harmless:
        When the returns grew as much: their growth is divided out. A norm logged after clipping cannot show it.

    References:
        Pascanu et al. 2013, arXiv 1211.5063. Fujimoto et al. 2018, arXiv 1802.09477.
    """
    norm = view.get(NORM, "critic/grad_norm")
    assert norm is not None
    clip = view.number("max_grad_norm")
    if clip is not None and len(norm) and norm.max <= 1.001 * clip and norm.source.aggregation == "post_clip":
        return Skip("the norm is logged after clipping", ("critic gradient norm before clipping",))
    size = norm.value[norm.value > 0]
    if size.size < params.opening + params.updates:
        return None
    step = norm.step[norm.value > 0]
    start = median(size[: params.opening])
    growth = return_growth(view, params.opening)
    limit = params.factor * (growth or 1.0) * start
    if not np.isfinite(limit):
        return None
    logs = safe_log(size)
    far = robust_z(logs, logs[: params.opening], floor=0.1) > params.z
    over = persistent_onset(step, (size > limit) & far, params.updates)
    if over is None:
        return None
    ratio = norm.max / start
    return Detection(
        message=f"critic gradient norm reached {norm.max:.3g}, {ratio:.2g} times its opening level",
        onset=view.onset(*over),
        metric=norm.metric,
        evidence={"max": norm.max, "opening": start, "ratio": ratio},
    )
