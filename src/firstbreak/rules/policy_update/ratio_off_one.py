"""The rule `ratio-off-one`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
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


PPO = synth.like("PPO")
MEAN = "policy/ratio_mean"

CASES = (
    fires("tenth too large", lambda: PPO({MEAN: synth.flat(1.12, 0.01)})),
    fires(
        "one update per batch, not 1",
        lambda: synth.like("GRPO", config={"num_iterations": 1})({MEAN: synth.flat(1.01, 0.002)}),
    ),
    healthy("scatters around 1", lambda: PPO({MEAN: synth.flat(1.0, 0.01)})),
    near_miss("one odd batch", lambda: PPO({MEAN: synth.spikes(1.0, 1.3, at=(0.5,), noise=0.01)})),
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
        On small batches with a large variance of the weights single rows scatter.

    References:
        Owen 2013, "Monte Carlo theory, methods and examples", chapter 9.
    """
    ratio = view.get(MEAN)
    assert ratio is not None
    off = np.abs(ratio.value - 1)
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
