"""The rule `ratio-off-one`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

from .policy_frozen import updates_per_batch


@dataclass(frozen=True)
class Params:
    """Thresholds of `ratio-off-one`; engineering defaults where no source is named."""

    bound: float = 0.5
    """Distance of the mean importance weight from 1 that one row proves wrong. Its expectation under the old policy
    is exactly 1 however far the new one is."""
    drift: float = 0.05
    """Distance that counts when it lasts. The standard error of a mean of 1,000 ratios with
    variance 1 is 0.03."""
    updates: int = 10
    """Consecutive updates beyond `drift`."""
    exact: float = 1e-3
    """Distance allowed with one update per batch, where the weight is 1 up to rounding."""


BEGAN = 1e-3
"""Distance from 1 of the weight before the first step of an update, under which the log-probabilities are those of the
policy that acted: float32 keeps within it (`ratio-off-at-first-minibatch`)."""
FAR_NATS = 0.1
"""KL of an update from which on the mean of a batch says little: the weights' variance is exp(2 KL) - 1 or more, and
most of their mean lies in actions that a batch seldom holds (Owen 2013, section 9.2)."""
PPO = synth.like("PPO")
MEAN, FIRST, KL = "policy/ratio_mean", "policy/ratio_first_minibatch", "policy/kl_old"
FAR = {FIRST: synth.flat(1.0, 1e-6), KL: synth.flat(0.6, 0.2)}

CASES = (
    fires("tenth too large", lambda: PPO({MEAN: synth.flat(1.12, 0.01)})),
    fires(
        "one update per batch, not 1",
        lambda: synth.like("GRPO", config={"num_iterations": 1})({MEAN: synth.flat(1.01, 0.002)}),
    ),
    healthy("scatters around 1", lambda: PPO({MEAN: synth.flat(1.0, 0.01)})),
    near_miss("one odd batch", lambda: PPO({MEAN: synth.spikes(1.0, 1.3, at=(0.5,), noise=0.01)})),
    near_miss("an update that went far from where it was 1", lambda: PPO({**FAR, MEAN: synth.flat(0.85, 0.02)})),
    fires("was 1, and the update is small", lambda: PPO({**FAR, KL: synth.flat(0.01), MEAN: synth.flat(0.85, 0.02)})),
    near_miss(
        "exactly 1 with one update per batch",
        lambda: synth.like("GRPO", config={"num_iterations": 1})({MEAN: synth.constant(1.0)}),
    ),
)


@rule(
    "POL006",
    "ratio-off-one",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs=(MEAN,),
    params=Params(),
    cases=CASES,
    implies=("clip-fraction-high", "ratio-tail"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The mean importance weight between updated and old policy stays away from 1.

    What it means:
        Under samples of the old policy the weight averages 1 exactly; a lasting offset means that the samples or the
        log-probabilities belong to another policy. With one update per batch it must be 1 to rounding.

    Why it matters:
        Every gradient is scaled and tilted by that error before clipping sees it.

    Usual causes:
        Mask or padding counted in the mean; sampler transforms (temperature, top-p) not scored; non-deterministic
        kernels or routing in mixture-of-experts models; truncated weights.

    What to try:
        Use one minibatch per update: the weight must return to 1; if not, compare log-probabilities twice in a row.

    When it is harmless:
        On small batches with a large variance of the weights single rows scatter. Updates of more than 0.1 nats that
        begin at a weight of 1 are left out: their log-probabilities are right, and the step is `kl-overshoot`'s.

    References:
        Owen 2013, "Monte Carlo theory, methods and examples", chapter 9.
    """
    ratio = view.get(MEAN)
    assert ratio is not None
    off = np.where(went_far(view, ratio.step), 0.0, np.abs(ratio.value - 1))
    exact = updates_per_batch(view) == 1
    over = persistent_onset(ratio.step, off > params.bound, 1)
    if over is None:
        over = persistent_onset(ratio.step, off > (params.exact if exact else params.drift), params.updates)
    if over is None:
        return None
    since = ratio.value[ratio.step >= over[1]]
    return Detection(
        message=f"mean importance weight is {median(since):.4g} instead of 1"
        + (" with one update per batch" if exact else ""),
        onset=view.onset(*over),
        metric=ratio.metric,
        evidence={"ratio_mean": median(since), "one_update_per_batch": exact},
    )


def went_far(view: RunView, step: Floats) -> NDArray[np.bool_]:
    """Whether the updates at `step` [n] began at a weight of 1 and moved the policy far: their mean need not be 1."""
    first, kl = view.get(FIRST), view.get(KL, "policy/kl_k1")
    if first is None or kl is None:
        return np.zeros(step.size, dtype=bool)
    began = first.step[np.abs(first.value - 1) <= BEGAN]
    return np.isin(step, began) & np.isin(step, kl.step[kl.value >= FAR_NATS])
