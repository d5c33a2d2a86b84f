"""The rule `weights-hardly-move`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.policy_update import loudest_at_rest
from firstbreak.rules.policy_update.policy_frozen import updates_per_batch
from firstbreak.series import Floats, Mask
from firstbreak.stats import median, persistent_onset
from firstbreak.view import Points, RunView

DELTA, RATE, GRADIENT = "optim/weight_delta", "optim/lr", "optim/grad_norm"
RATIO, ENTROPY = "policy/ratio_var", "policy/entropy"


@dataclass(frozen=True)
class Params:
    """Thresholds of `weights-hardly-move`."""

    of_rate: float = 0.005
    """Change over the norm of the weights, as a share of the learning rate. Adam moves each weight by about the rate
    (Kingma and Ba 2015, arXiv 1412.6980, section 2.1), by 0.2 of it where gradients are pure noise; over weights of
    size 1, a hundredth of which get a gradient at all, 0.02 is left."""
    rows: int = 10
    """Rows in a row that must show it. Engineering default."""
    doubt: float = 0.05
    """Share of its first entropy that a policy must keep where only its ratios are logged: one that is certain hardly
    moves, whatever its weights do. Engineering default."""
    gradient_frac: float = 0.01
    """Share of its usual size that the gradient must have: where it vanishes, so do the steps. Engineering default."""


GRPO = synth.like("GRPO", config={"optimizer": "AdamW"})
MOVING = synth.like("PPO", config={"n_epochs": 4, "n_minibatches": 4})
ENDING = {RATIO: synth.geometric(0.02, 2e-10, 0.3), RATE: synth.geometric(1e-3, 1e-6, 0.0)}
LOST = {DELTA: synth.flat(2e-9, 0.1), RATE: synth.constant(1e-6), GRADIENT: synth.flat(1.0, 0.2)}
CASES = (
    fires("epsilon swallows the gradient", lambda: GRPO(LOST)),
    fires(
        "steps are lost from the middle on",
        lambda: GRPO(LOST | {DELTA: synth.after(0.5, synth.flat(2e-9, 0.1), synth.flat(1e-5, 0.1))}),
    ),
    healthy("steps of Adam", lambda: GRPO(LOST | {DELTA: synth.flat(1e-5, 0.1)})),
    fires(
        "only the ratios of the policy are logged",
        lambda: MOVING({RATIO: synth.geometric(2e-12, 2e-12, 0.3), GRADIENT: synth.flat(15.0, 0.1)}),
    ),
    near_miss("small steps at the end of the schedule", lambda: MOVING(ENDING)),
    near_miss(
        "a policy without doubt",
        lambda: MOVING({RATIO: synth.geometric(0.02, 2e-12, 0.3), ENTROPY: synth.geometric(0.69, 1e-5, 0.02)}),
    ),
    near_miss("embeddings that few tokens touch", lambda: GRPO(LOST | {DELTA: synth.flat(2e-8, 0.1)})),
    near_miss(
        "the gradient is gone, too: solved",
        lambda: GRPO(
            LOST
            | {
                DELTA: synth.after(0.5, synth.flat(2e-9, 0.1), synth.flat(1e-5, 0.1)),
                GRADIENT: synth.after(0.5, synth.flat(1e-4, 0.2), synth.flat(1.0, 0.2)),
            }
        ),
    ),
    near_miss(
        "every response earns the same: no gradient in most rows, and Adam comes to rest",
        lambda: GRPO(
            LOST
            | {
                DELTA: synth.after(0.2, synth.flat(2e-9, 0.1), synth.flat(1e-5, 0.1)),
                GRADIENT: synth.after(0.2, synth.constant(0.0), synth.flat(1.0, 0.2)),
            }
        ),
    ),
    near_miss("plain SGD moves by the gradient", lambda: synth.like("GRPO", config={"optimizer": "SGD"})(LOST)),
)


@rule(
    "NUM021",
    "weights-hardly-move",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(RATE, GRADIENT),
    any_of=((DELTA, RATIO),),
    min_points=10,
    params=Params(),
    cases=CASES,
    implies=(
        "reward-flat",
        "entropy-stuck-high",
        "policy-frozen",
        "reference-is-policy",
        "value-scale-mismatch",
        "critic-not-learning",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """There is a gradient and a learning rate, and yet the weights move by next to nothing.

    What it means:
        The relative change of the weights is hundreds of times smaller than steps of Adam at this rate.

    Why it matters:
        Loss and gradient look as in any run while nothing is learned.

    Usual causes:
        An epsilon far above the gradient's size; a clip norm below Adam's epsilon; steps that are lost in the rounding
        of half-precision weights; plain SGD at a rate meant for Adam.

    What to try:
        Print the optimiser's epsilon and the clip norm; keep a float32 copy of the weights; compare the weights before
        and after one step.

    When it is harmless:
        Plain SGD, whose steps follow the gradient; a policy that is done, whose gradient vanishes with its steps.

    References:
        Kingma and Ba 2015, arXiv 1412.6980, section 2.1 (the step is bounded by, and of the size of, the rate).
    """
    if "sgd" in str(view.config("optimizer", "")).lower():
        return None
    moved, rate, gradient = view.get(DELTA), view.get(RATE), view.get(GRADIENT)
    assert rate is not None
    assert gradient is not None
    if moved is None:
        return ratio_stays(view, rate, gradient, params)
    at = np.interp(moved.step, rate.step, rate.value)
    pulled = pulls(moved.step, gradient, params)
    steps = updates_per_batch(view) or 1.0  # a row of PPO holds the steps of all its epochs
    lost = (moved.value > 0) & (moved.value < params.of_rate * steps * at) & pulled
    if not lost[-params.rows :].all() or lost.size < params.rows:
        return None
    onset = persistent_onset(moved.step, lost, params.rows)
    assert onset is not None
    share = median(moved.value[-params.rows :]) / (steps * median(at[-params.rows :]))
    return Detection(
        message=f"a step moves the weights by {share:.2g} of the learning rate; Adam moves them by about the rate",
        onset=view.onset(*onset),
        metric=DELTA,
        evidence={"of_rate": share, "learning_rate": float(at[-1])},
    )


def pulls(step: Floats, gradient: Points, params: Params) -> Mask:
    """Return where [n] at `step` [n] there is a gradient, and of its usual size: without any nothing is to be moved."""
    size = np.interp(step, gradient.step, gradient.value)
    return (size > 0) & (size >= params.gradient_frac * median(gradient.value))


def ratio_stays(view: RunView, rate: Points, gradient: Points, params: Params) -> Detection | None:
    """Judge by the policy itself: the spread of its ratios is that of weights times the gradient of a log-probability,
    which is of size 1 or more."""
    ratio, entropy, steps = view.get(RATIO), view.get(ENTROPY), updates_per_batch(view)
    if ratio is None or len(ratio) < params.rows or steps is None or steps <= 1:
        return None
    if entropy is not None and len(entropy) and entropy.last < params.doubt * abs(entropy.first):
        return None
    at = steps * np.interp(ratio.step, rate.step, rate.value)
    pulled = pulls(ratio.step, gradient, params)
    spread = np.sqrt(np.maximum(ratio.value, 0.0))
    lost = (at > 0) & (spread > 0) & (spread < params.of_rate * at) & pulled
    onset = persistent_onset(ratio.step, lost, params.rows)
    if onset is None or not lost[-params.rows :].all():
        return None
    share = median(spread[-params.rows :] / at[-params.rows :])
    return Detection(
        message=f"{steps:.0f} steps at rate {median(at) / steps:.2g} spread the ratios by {spread[lost].max():.1g}",
        onset=view.onset(*onset),
        metric=(loudest_at_rest(view, ratio) if lost.all() else ratio).metric,
        evidence={"of_rate": share, "learning_rate": float(at[-1] / steps), "ratio_spread": float(spread[-1])},
    )
