"""The rule `optimiser-state-replaced`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

STATE = "optim/state_moved_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `optimiser-state-replaced`; engineering defaults."""

    frac: float = 0.01
    """Change of a moment over its size that counts. It is 0 by construction; moments that are kept in sixteen bits in
    between are off by 4e-3 at most (bfloat16)."""
    calm: int = 2
    """Rows before it in which each step found the state that the last one left; without them it belongs to the
    algorithm."""
    usual: float = 0.3
    """Share of rows up to which it is an event; beyond it, it belongs to the algorithm (moments that are made anew in
    every phase)."""


PPO = synth.like("PPO")

CASES = (
    fires("moments are gone once", lambda: PPO({STATE: synth.spikes(0.0, 1.0, at=(0.6,))})),
    fires("those of another checkpoint", lambda: PPO({STATE: synth.spikes(0.0, 0.4, at=(0.3,))})),
    healthy("each step finds what the last one left", lambda: PPO({STATE: synth.constant(0.0)})),
    near_miss("rounded to sixteen bits in between", lambda: PPO({STATE: synth.flat(2e-3, 1e-4)})),
    near_miss("made anew in every phase", lambda: PPO({STATE: synth.flat(1.0, 0.0)})),
)


@rule(
    "SYS041",
    "optimiser-state-replaced",
    link=Link.SYSTEM_RESOURCES,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(STATE,),
    min_points=1,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "second-moment-fell",
        "optimiser-state-lost",
        "steps-outgrow-rate",
        "kl-overshoot",
        "policy-jumps",
        "policy-moves-at-once",
        "critic-moves-at-once",
        "grad-norm-explosion",
        "return-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """An optimiser did not find the moments that its last step had left: something else wrote into them.

    What it means:
        Between two steps nobody but the optimiser itself may touch what it remembers. The moments of a weight were
        others when the next step began, or were gone.

    Why it matters:
        A step is the first moment over the root of the second: with empty moments it has full size whatever the
        gradient is, with those of other weights any size. What was learned can be lost within a few of them.

    Usual causes:
        A resume, or a roll back, that loads weights and not the optimiser; an optimiser's state that is cleared in a
        callback; a checkpoint of another run; code that sets one of two moments to 0.

    What to try:
        Save and load optimisers with the weights, and run one update on the same batch with and without the resume: the
        weights must agree. What else a checkpoint lacks (statistics of observations, replay) shows there, too.

    When it is harmless:
        Where a recipe makes the optimiser anew on purpose, after a reset of layers for instance.

    References:
        Kingma and Ba 2015, arXiv 1412.6980, section 2.1 (size of a step). Asadi et al. 2023, arXiv 2306.17833 (moments
        that are made anew on purpose). PyTorch: `Optimizer.state`.
    """
    moved = view.get(STATE)
    assert moved is not None
    beyond = moved.value > params.frac
    if not beyond.size or beyond[: params.calm].any() or beyond.mean() > params.usual:
        return None
    onset = persistent_onset(moved.step, beyond, 1)
    if onset is None:
        return None
    size = float(moved.value[beyond].max())
    return Detection(
        message=f"moments of an optimiser changed by {size:.3g} of their size between two of its steps",
        onset=view.onset(*onset),
        metric=moved.metric,
        evidence={"state_moved_frac": size, "times": int(beyond.sum())},
    )
