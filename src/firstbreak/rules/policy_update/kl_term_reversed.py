"""The rule `kl-term-reversed`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `kl-term-reversed`. Engineering defaults."""

    rows: int = 20
    """Rows with both metrics."""
    correlation: float = -0.9
    """Correlation of loss and KL from row to row and over the run: the term must be most of what moves the loss."""
    least_nats: float = 0.1
    """Largest KL below which the term cannot be told from the rest of the loss."""


KL, LOSS = "policy/kl_ref", "optim/loss_total"
GRPO = synth.like("GRPO", config={"kl_coef": 0.05})


def away(t: Floats, rng: np.random.Generator) -> Floats:
    """A KL [n] that grows to 4 nats, with the scatter of single batches."""
    return 4 * t**2 * (1 + 0.1 * np.sin(131 * t))


def penalty(t: Floats, rng: np.random.Generator) -> Floats:
    """A loss [n] that is half the KL."""
    return 0.5 * away(t, rng)


def bonus(t: Floats, rng: np.random.Generator) -> Floats:
    """A loss [n] that is minus half the KL."""
    return -0.5 * away(t, rng)


CASES = (
    fires("the loss falls by half the KL", lambda: GRPO({KL: away, LOSS: bonus})),
    healthy("the loss rises with the KL", lambda: GRPO({KL: away, LOSS: penalty})),
    near_miss("KL grows, the loss scatters around 0", lambda: GRPO({KL: away, LOSS: synth.walk(0.0, 0.05)})),
    near_miss(
        "both drift, each for itself",
        lambda: GRPO({KL: away, LOSS: synth.ramp(0.0, -2.0, 0.05)}),
    ),
)


@rule(
    "POL035",
    "kl-term-reversed",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    needs=(KL, LOSS),
    when=("reference",),
    min_points=20,
    params=Params(),
    cases=CASES,
    implies=(
        "kl-ref-runaway",
        "language-drift",
        "truncation-growing",
        "zero-std-groups",
        "reward-std-collapse",
        "return-collapse",
        "token-entropy-collapse",
        "grad-norm-explosion",
        "reward-flat",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The loss falls, row by row, by a multiple of the KL to the reference: the penalty is a bonus.

    What it means:
        A KL penalty adds a positive multiple of the KL to the loss. Here nearly all that moves the loss is a negative
        multiple of it, over the run as well as from row to row.

    Why it matters:
        The optimiser is paid for leaving the reference; nothing bounds how far, and text turns to noise.

    Usual causes:
        A minus sign too many; log-probs of policy and reference swapped in the penalty; a negative coefficient.

    What to try:
        Print the coefficient in force; with advantages of 0, one update must bring the policy closer to its reference.

    When it is harmless:
        Never where the term is meant as a penalty. With an entropy bonus in the loss the rule stays silent: it moves
        the loss, too.

    References:
        Schulman 2020, "Approximating KL divergence" (k3 is never negative). Shao et al. 2024, arXiv 2402.03300.
    """
    kl, loss = view.get(KL), view.get(LOSS)
    assert kl is not None
    assert loss is not None
    if view.number("ent_coef") or view.has("policy/ent_coef"):
        return None
    shared, at_kl, at_loss = np.intersect1d(kl.step, loss.step, return_indices=True)
    size, total = kl.value[at_kl], loss.value[at_loss]
    if shared.size < params.rows or float(size.max()) < params.least_nats:
        return None
    whole, local = correlation(size, total), correlation(np.diff(size), np.diff(total))
    if max(whole, local) > params.correlation:
        return None
    slope = float(np.polyfit(size, total, 1)[0])
    grown = int(np.argmax(size >= params.least_nats))
    return Detection(
        message=f"the loss falls by {-slope:.3g} for each nat of KL to the reference (correlation {whole:.2f})",
        onset=view.onset(float(shared[0]), float(shared[grown])),
        metric=LOSS,
        evidence={"slope": slope, "correlation": whole, "correlation_of_steps": local},
    )


def correlation(a: Floats, b: Floats) -> float:
    """Return the correlation of `a` and `b` [n], 0 where either never changes."""
    if float(np.ptp(a)) <= 0 or float(np.ptp(b)) <= 0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])
