"""The rule `generation-moves-weights`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.lasting import lasting
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

METRIC = "optim/generation_change_frac"

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `generation-moves-weights`; engineering defaults where no source is named."""

    limit: float = 1e-3
    """Change of the trained weights while responses are drawn and scored, over their norm: 0 by construction. Rounding
    of a norm in float32 stays below 1e-6."""
    rows: int = 2
    """Batches on end that must show it; a single one is told by `weights-changed-outside`."""


CASES = (
    fires("from the start", lambda: GRPO({METRIC: synth.constant(0.01)})),
    fires("from half-way on", lambda: GRPO({METRIC: synth.jump(0.0, 0.01, at=0.5, noise=0.0)})),
    healthy("as it should be", lambda: GRPO({METRIC: synth.constant(0.0)})),
    near_miss("next to nothing", lambda: GRPO({METRIC: synth.constant(1e-5)})),
    near_miss("one row", lambda: GRPO({METRIC: synth.spikes(0.0, 0.01, at=(0.4,), noise=0.0)})),
)


@rule(
    "POL115",
    "generation-moves-weights",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    needs=(METRIC,),
    when=("language",),
    min_points=2,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-flat",
        "zero-std-groups",
        "return-collapse",
        "reward-std-collapse",
        "response-collapse",
        "token-entropy-collapse",
        "reward-redefined",
        "reward-steps-down",
        "advantage-collapse",
        "smooth-decline",
        "weights-changed-outside",
        "policy-jumps",
        "truncation-growing",
        "weight-norm-growth",
        "logprob-mismatch",
        "draws-unlike-policy",
        "entropy-growing",
        "kl-overshoot",
        "grad-norm-explosion",
        "weight-sync-fault",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The weights of the policy change while responses are drawn.

    What it means:
        Norms of the trained weights before a batch is generated and after it was scored differ. Only a step of the
        optimiser may move them.

    Why it matters:
        Each hand-over bends the policy a little, whatever the loss says, and the optimiser's moments belong to weights
        that are gone.

    Usual causes:
        A hand-over to the sampler that scales, merges or quantises in place; a reference that is copied or mixed in the
        wrong direction.

    What to try:
        Hash the weights before and after `sync_weights()`; work on a copy.

    When it is harmless:
        Never known to be; adapters that are merged and parted again leave trained weights as they were.

    References:
        unsloth-zoo issue 941.
    """
    return lasting(
        view,
        METRIC,
        params,
        lambda value: f"while responses were drawn, the policy's weights changed by {value:.3g} of their norm",
    )
