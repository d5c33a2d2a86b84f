"""The rule `entropy-at-rest`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import RunView

ENTROPY, RATE, GRADIENT = "policy/entropy", "optim/lr", "optim/grad_norm"


@dataclass(frozen=True)
class Params:
    """Thresholds of `entropy-at-rest`. Engineering defaults where no source is named."""

    rows: int = 64
    """Rows from the first on that must all show it. A healthy run at a tenth of its usual rate moves its entropy by
    0.35 % within as many updates (calibrated on slow learners of a tiny model)."""
    spread_frac: float = 1e-3
    """Largest less smallest entropy, as a share of its median. Batches of other prompts scatter by more where a policy
    prefers anything; logs round to four digits."""
    rate_frac: float = 0.5
    """Share of its largest that the learning rate must have for a row to count: a warm-up moves little."""


GRPO = synth.like("GRPO", config={"optimizer": "AdamW"})
STILL = {ENTROPY: synth.flat(3.0, 0.00002), "reward/train_mean": synth.flat(0.05, 0.1)}
CASES = (
    fires("near uniform, and stays so to the last digit", lambda: GRPO(STILL)),
    healthy("entropy falls as it learns", lambda: GRPO({})),
    near_miss(
        "learns slowly: a per cent over the run", lambda: GRPO(STILL | {ENTROPY: synth.ramp(3.0, 2.97, 0.00002)})
    ),
    near_miss("other prompts, other entropies", lambda: GRPO(STILL | {ENTROPY: synth.flat(3.0, 0.004)})),
    near_miss("there is no gradient", lambda: GRPO(STILL | {GRADIENT: synth.constant(0.0)})),
    near_miss("a long warm-up", lambda: GRPO(STILL | {RATE: synth.ramp(0.0, 1e-6, 0.0)})),
)


@rule(
    "NUM022",
    "entropy-at-rest",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(ENTROPY, RATE, GRADIENT),
    when=("language", "policy_gradient"),
    min_points=64,
    implies=("reward-flat", "entropy-stuck-high", "reward-constant"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """There is a gradient and a learning rate, and yet the policy's entropy stays the same to the last digit.

    What it means:
        Over scores of updates and batches the entropy did not move by a thousandth: the policy says what it said at
        the start, and treats all prompts alike.

    Why it matters:
        Loss and gradient look as in any run while nothing is learned.

    Usual causes:
        An epsilon of the optimiser far above the gradient's size; a learning rate that is far too small; steps that are
        lost in the rounding of half-precision weights; the optimiser holds other parameters than those that are used.

    What to try:
        Log the change of the weights per update; print the optimiser's epsilon; compare the weights with their copy of
        before one step.

    When it is harmless:
        Never for long: a policy that learns moves. A policy near uniform at a rate a hundred times too small looks the
        same, and learns as little.

    References:
        Kingma and Ba 2015, arXiv 1412.6980, section 2.1 (a step of Adam is of the size of the rate).
    """
    entropy, rate, gradient = view.get(ENTROPY), view.get(RATE), view.get(GRADIENT)
    assert entropy is not None
    assert rate is not None
    assert gradient is not None
    at = np.interp(entropy.step, rate.step, rate.value)
    pulled = np.interp(entropy.step, gradient.step, gradient.value) > 0
    counts = entropy.value[(at >= params.rate_frac * rate.max) & (at > 0) & pulled]
    level = median(entropy.value)
    if counts.size < params.rows or level <= 0:
        return None
    spread = float(np.ptp(entropy.value)) / level
    if spread > params.spread_frac:
        return None
    return Detection(
        message=f"entropy moved by {spread:.1g} of its {level:.4g} nats over {counts.size} updates with a gradient",
        onset=view.onset(float(entropy.step[0])),
        metric=ENTROPY,
        evidence={"spread_frac": spread, "updates": int(counts.size), "gradient_norm": median(gradient.value)},
    )
