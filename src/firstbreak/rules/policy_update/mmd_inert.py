"""The rule `mmd-inert`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

from .policy_frozen import updates_per_batch


@dataclass(frozen=True)
class Params:
    """Thresholds of `mmd-inert`; engineering defaults where no source is named."""

    ratio: float = 0.01
    """Gradient of the MMD term over that of the surrogate, below which it cannot matter. Engineering default."""
    updates: int = 10
    """Consecutive updates below."""


MM = synth.like("MM-RKHS")

CASES = (
    fires("gradient a thousandth", lambda: MM({"policy/mmd_grad_ratio": synth.flat(1e-3, 0.1)})),
    fires(
        "one update per batch",
        lambda: synth.like("MM-RKHS", drop=("policy/mmd_grad_ratio",), config={"n_epochs": 1, "n_minibatches": 1})({}),
    ),
    healthy("takes part", lambda: MM({})),
    near_miss("a twentieth", lambda: MM({"policy/mmd_grad_ratio": synth.flat(0.05, 0.1)})),
    near_miss(
        "switched off on purpose",
        lambda: MM({"policy/mmd_grad_ratio": synth.constant(0.0), "policy/mmd_coef": synth.constant(0.0)}),
    ),
)


@rule(
    "POL016",
    "mmd-inert",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    any_of=(("policy/mmd_grad_ratio", "policy/mmd"),),
    when=("mmd",),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The MMD term does nothing: its gradient is a hundredth of the surrogate's or less.

    What it means:
        At equal policies the gradient of MMD^2 is 0. With a single gradient step on each batch it stays there, and
        any coefficient gives the same run; elsewhere the kernel may be blind to the change.

    Why it matters:
        What holds the policy then is the KL term or the clip alone, not the majoriser the method is named for.

    Usual causes:
        One inner iteration; kernel bandwidth far from the distance between actions; coefficient decayed away; term
        computed without gradient.

    What to try:
        Multiply the coefficient by 100: an unchanged run proves it. Use two or more steps per batch and the median
        distance of actions as bandwidth.

    When it is harmless:
        When the coefficient is 0 on purpose; then the rule does not look.

    References:
        Gupta and Mahajan 2026, arXiv 2603.17875. Gretton et al. 2012, JMLR 13 (kernel two-sample test).
    """
    coefficient = view.get("policy/mmd_coef")
    if coefficient is not None and len(coefficient) and coefficient.max == 0:
        return Skip("the MMD coefficient is 0", ("policy/mmd_coef",))
    ratio = view.get("policy/mmd_grad_ratio")
    if ratio is None or len(ratio) == 0:
        points = view.get("policy/mmd")
        if points is None or len(points) == 0 or updates_per_batch(view) != 1:
            return Skip("gradient of the MMD term not logged", ("policy/mmd_grad_ratio",))
        return Detection(
            message="1 gradient step per batch: the MMD term is taken where its gradient is 0",
            onset=view.onset(points.step[0]),
            metric=points.metric,
            evidence={"updates_per_batch": 1},
        )
    over = persistent_onset(ratio.step, ratio.value < params.ratio, params.updates)
    if over is None:
        return None
    now = median(ratio.value[ratio.step >= over[1]])
    return Detection(
        message=f"gradient of the MMD term is {now:.2g} of the surrogate's (limit {params.ratio:g})",
        onset=view.onset(*over),
        metric=ratio.metric,
        evidence={"grad_ratio": now},
    )
