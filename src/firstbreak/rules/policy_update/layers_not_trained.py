"""The rule `layers-not-trained`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

MAY, WITHOUT = "optim/trainable_frac", "optim/without_gradient_frac"
GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `layers-not-trained`; engineering defaults where no source is named."""

    few: float = 0.1
    """Share of the matrices that are trained under which most layers stand still. Methods that train some layers on
    purpose train a quarter and more (Spectrum, arXiv 2406.06623); adapters are not judged."""
    lost: float = 0.5
    """Share of what was trained at first that no longer is."""
    rows: int = 3
    """Rows in a row that must show it."""


CASES = (
    fires("but for the head, from the start", lambda: GRPO({MAY: synth.constant(0.06)})),
    fires("but for the head, half-way", lambda: GRPO({MAY: synth.jump(1.0, 0.06, 0.5, 0.0)})),
    fires("cut off from the loss", lambda: GRPO({MAY: synth.constant(1.0), WITHOUT: synth.constant(0.95)})),
    healthy("all", lambda: GRPO({MAY: synth.constant(1.0), WITHOUT: synth.constant(0.0)})),
    near_miss("a tower is frozen on purpose", lambda: GRPO({MAY: synth.constant(0.4)})),
    near_miss("parts that this data does not use", lambda: GRPO({WITHOUT: synth.constant(0.4)})),
    near_miss("opened by and by", lambda: GRPO({MAY: synth.jump(0.2, 1.0, 0.5, 0.0)})),
)


@rule(
    "POL118",
    "layers-not-trained",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    any_of=((MAY, WITHOUT),),
    when=("language",),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "reward-flat",
        "zero-std-groups",
        "policy-frozen",
        "weights-hardly-move",
        "smooth-decline",
        "grad-norm-zero",
        "entropy-stuck-high",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Nearly all layers of the model stand still: they are frozen, or no gradient reaches them.

    What it means:
        Of the matrices of a model without adapters, next to none may be trained, or next to none of those that may has
        a gradient.

    Why it matters:
        Loss and gradient norm look like training, and what is left to move can learn little.

    Usual causes:
        A pattern of names that misses the layers; `requires_grad_(False)` for a phase that was never taken back; a
        `detach()` between body and head.

    What to try:
        Print the names of the parameters that have a gradient after one backward pass.

    When it is harmless:
        A head or a few layers that are trained on purpose.

    References:
        LlamaFactory issue 5226; unsloth issue 9331.
    """
    may, without = view.get(MAY), view.get(WITHOUT)
    if may is not None and len(may):
        limit = max(params.few, params.lost * float(may.value[0]))
        off = may.value < (limit if may.value[0] >= params.few else params.few)
        onset = persistent_onset(may.step, off, params.rows)
        if onset is not None and bool(off[-1]):
            value = float(may.value[-1])
            return Detection(
                message=f"{value:.0%} of the model's matrices may be trained; the others are frozen",
                onset=view.onset(*onset),
                metric=MAY,
                evidence={"trainable_frac": value, "at_first": float(may.value[0])},
            )
    if without is not None and len(without):
        off = without.value >= 1 - params.few
        onset = persistent_onset(without.step, off, params.rows)
        if onset is not None:
            value = float(without.value[off][-1])
            return Detection(
                message=f"no gradient reaches {value:.0%} of the matrices that are to be trained",
                onset=view.onset(*onset),
                metric=WITHOUT,
                evidence={"without_gradient_frac": value},
            )
    return None
