"""The rule `optimiser-holds-others`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

HELD, STILL = "optim/held_weights_frac", "optim/still_frac"
GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `optimiser-holds-others`; engineering defaults where no source is named."""

    held: float = 0.01
    """Share of the model's trainable weights in the optimiser below which it holds others."""
    still: float = 0.999
    """Share of weights that a step leaves as they were, bit for bit, which proves it."""
    rows: int = 2
    """Rows in a row that must show it."""


CASES = (
    fires("copies, from the start", lambda: GRPO({HELD: synth.constant(0.0), STILL: synth.constant(1.0)})),
    fires(
        "replaced half-way", lambda: GRPO({HELD: synth.jump(1.0, 0.0, 0.5, 0.0), STILL: synth.jump(0.0, 1.0, 0.5, 0.0)})
    ),
    healthy("all of them", lambda: GRPO({HELD: synth.constant(1.0), STILL: synth.constant(0.0)})),
    near_miss("a part is left out on purpose", lambda: GRPO({HELD: synth.constant(0.4), STILL: synth.constant(0.6)})),
    near_miss(
        "other tensors that are copied back after each step",
        lambda: GRPO({HELD: synth.constant(0.0), STILL: synth.constant(0.0)}),
    ),
)


@rule(
    "POL066",
    "optimiser-holds-others",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    needs=(HELD,),
    min_points=2,
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
        "policy-frozen",
        "reference-is-policy",
        "weights-hardly-move",
        "steps-lost-in-rounding",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The optimiser does not hold the weights of the model that is trained.

    What it means:
        None of the tensors in the optimiser's groups is a trainable weight of the model, and its weights stay
        as they are, bit for bit, though they have gradients.

    Why it matters:
        Loss, gradient norm and learning rate look like training, and nothing is learned.

    Usual causes:
        A model wrapped, moved, cast, resized or given adapters after its optimiser was made; a checkpoint that
        replaced the parameters.

    What to try:
        Make the optimiser last; compare `id()` of the model's parameters with those in
        `optimizer.param_groups`.

    When it is harmless:
        Sharded training, in which the optimiser holds flat copies by design: not judged.

    References:
        PyTorch documentation, torch.optim, "Constructing it" (move a model before its optimiser is
        constructed).
    """
    held, still = view.get(HELD), view.get(STILL)
    assert held is not None
    none = held.value <= params.held
    if still is None or not len(still):
        return Skip("whether the weights move is not known", (STILL,))
    # What a step did comes with the row after it.
    rest = np.interp(held.step, still.step, still.value)
    onset = persistent_onset(held.step, none & (rest >= params.still), params.rows)
    if onset is None:
        return None
    began = persistent_onset(held.step, none, 1) or onset
    return Detection(
        message="the optimiser holds 0 % of the model's weights, and its steps leave them as they are",
        onset=view.onset(*began),
        metric=HELD,
        evidence={"held_frac": 0.0, "still_frac": float(rest[held.step >= onset[1]].min())},
    )
