"""The rule `weight-decay-heavy`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

DECAY, PULL = "optim/decay_frac", "optim/decay_over_gradient"
GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `weight-decay-heavy`; engineering defaults where no source is named."""

    frac: float = 1e-3
    """Share of the weights that a step takes away: half of them in 700 steps. Usual settings stay far below: 3e-4 times
    0.1 is 3e-5 (Touvron et al. 2023, arXiv 2302.13971, table 2), fine-tuning 1e-5 times 0.01."""
    large: float = 1e-2
    """Share that makes it an error: half of the weights in 70 steps."""
    pull: float = 1.0
    """Decay that is added to the gradient, over the gradient of the loss: from here on most of a step is decay."""
    rows: int = 3
    """Rows in a row that must show it."""


CASES = (
    fires("half of the weights in 35 steps", lambda: GRPO({DECAY: synth.constant(0.02)})),
    fires("from half-way on", lambda: GRPO({DECAY: synth.jump(0.0, 0.004, 0.5, 0.0)})),
    fires("more than the gradient of the loss", lambda: synth.like("PPO")({PULL: synth.jump(0.0, 20.0, 0.5, 0.0)})),
    near_miss("a little beside the gradient", lambda: synth.like("PPO")({PULL: synth.constant(0.05)})),
    healthy("none", lambda: GRPO({DECAY: synth.constant(0.0)})),
    near_miss("0.1 at a rate of 3e-4", lambda: GRPO({DECAY: synth.constant(3e-5)})),
    near_miss("a high rate that warms up and is gone", lambda: GRPO({DECAY: synth.spikes(1e-5, 2e-3, at=(0.1,))})),
)


@rule(
    "POL061",
    "weight-decay-heavy",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    any_of=((DECAY, PULL),),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-flat",
        "zero-std-groups",
        "reward-std-collapse",
        "reward-redefined",
        "advantage-collapse",
        "token-entropy-collapse",
        "response-collapse",
        "smooth-decline",
        "entropy-growing",
        "truncation-growing",
        "echo-trap",
        "task-too-hard",
        "policy-jumps",
        "weight-norm-growth",
        "grad-norm-explosion",
        "advantage-outliers",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Weight decay takes a large share of the weights away at every step.

    What it means:
        Learning rate times weight decay is the share by which AdamW shrinks each weight, whatever its gradient. Other
        optimisers add the decay to the gradient: then it is held against that of the loss.

    Why it matters:
        What the model knew is forgotten at a constant pace that no gradient makes up for: outputs drift towards
        uniform, and it looks like a collapse of reward or entropy.

    Usual causes:
        A decay meant for another optimiser or another rate; a slip of a digit; a decay of 0.1 kept beside a
        rate a thousand times that of fine-tuning.

    What to try:
        Print learning rate times weight decay of every parameter group, and the norm of the weights over some
        updates.

    When it is harmless:
        Tiny networks trained from scratch at high rates, where weights find a balance soon.

    References:
        Loshchilov and Hutter 2019, arXiv 1711.05101, algorithm 2.
    """
    pull, share = view.get(PULL), view.get(DECAY)
    if pull is not None:
        onset = persistent_onset(pull.step, pull.value >= params.pull, params.rows)
        if onset is not None:
            size = median(pull.value[pull.step >= onset[1]])
            return Detection(
                message=f"weight decay is {size:.2g} times the gradient of the loss",
                onset=view.onset(*onset),
                metric=PULL,
                evidence={"over_gradient": size},
            )
    if share is None:
        return None
    heavy = share.value >= params.frac
    onset = persistent_onset(share.step, heavy, params.rows)
    if onset is None:
        return None
    size = median(share.value[heavy & (share.step >= onset[1])])
    return Detection(
        message=f"weight decay takes {size:.2g} of the weights at each step",
        onset=view.onset(*onset),
        metric=DECAY,
        evidence={"per_step_frac": size, "half_life_steps": 0.693 / size},
        severity=Severity.ERROR if size >= params.large else None,
    )
