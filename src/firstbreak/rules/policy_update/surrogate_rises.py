"""The rule `surrogate-rises`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import RunView

LOSS = "policy/loss"
SIZES = ("policy/clip_fraction", "policy/kl_old")


@dataclass(frozen=True)
class Params:
    """Thresholds of `surrogate-rises`."""

    least: float = 0.05
    """Loss in standard deviations of the advantage, in two rows in a row. In the healthy runs of PPO in the fault
    benchmark's development half and among the ordinary logs (2026-11-25) the largest such pair is 0.022."""
    times: float = 3.0
    """Times the largest size of the loss in earlier rows, if advantages are not normalised. Engineering default."""
    grown: float = 2.0
    """Times its largest value in earlier rows that clip fraction or KL has in the same rows. Engineering default."""
    far: float = 20.0
    """Times the same from which on it is an error, said without waiting for a third row. Engineering default: of 373
    recorded runs that log it (corpus of 2026-11-26) none without a fault comes to `times`."""
    rows: int = 8
    """Earlier rows that are needed; up to 20 are compared. The two rows just before may belong to it already.
    Engineering default."""


PPO = synth.like("PPO")
WORSE = synth.after(0.5, synth.flat(0.1, 0.1), synth.flat(-0.005, 0.3))
CASES = (
    fires(
        "log-probabilities of other actions from the middle on",
        lambda: PPO({LOSS: WORSE, "policy/clip_fraction": synth.jump(0.05, 0.4)}),
    ),
    healthy("the surrogate gets better", lambda: PPO({})),
    near_miss("a little worse", lambda: PPO({LOSS: synth.jump(-0.005, 0.02), SIZES[0]: synth.jump(0.05, 0.4)})),
    near_miss(
        "much better: many passes", lambda: PPO({LOSS: synth.jump(-0.005, -0.2), SIZES[0]: synth.jump(0.05, 0.4)})
    ),
    near_miss("one bad batch", lambda: PPO({LOSS: synth.spikes(-0.005, 0.2, at=(0.5,)), SIZES[0]: synth.flat(0.1)})),
)


@rule(
    "POL072",
    "surrogate-rises",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    needs=(LOSS,),
    any_of=(SIZES,),
    when=("control", "ppo_clip"),
    min_points=10,
    params=Params(),
    cases=CASES,
    implies=(
        "entropy-climbs-back",
        "policy-turns-uniform",
        "entropy-growing",
        "return-collapse",
        "return-falls-at-once",
        "clip-fraction-high",
        "reward-flat",
        "explained-variance-collapse",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Updates make their own objective worse, and the ratios leave the clip range as they do.

    What it means:
        The loss of the policy is minus the advantage weighted with the ratio. It starts at 0 in each update and falls
        while the update follows the advantage. Over several rows it is far above 0, as never before.

    Why it matters:
        The step that is taken is not the one that the advantages ask for.

    Usual causes:
        New log-probabilities of other actions than the stored ones; a missing dimension, so that ratios are taken of
        all pairs of rows; a learning rate that throws the policy past the optimum; a term that outweighs the loss.

    What to try:
        Print the ratios at the first minibatch of an update: all must be 1.

    When it is harmless:
        A bonus that outweighs the advantage by intent, in a phase of exploration.

    References:
        Schulman et al. 2017, arXiv 1707.06347, equation 7.
    """
    loss = view.get(LOSS)
    assert loss is not None
    value = loss.value
    for place in range(params.rows + 2, value.size - 1):
        low = min(float(value[place]), float(value[place + 1]))
        usual = float(np.abs(value[max(0, place - 22) : place - 2]).max())
        if low < params.least or low < params.times * usual:
            continue
        if grown(view, float(loss.step[place]), float(loss.step[place + 1]), params):
            return Detection(
                message=f"the policy's loss rose to {value[place]:.3g}, then {value[place + 1]:.3g}, as never before",
                onset=view.onset(float(loss.step[place - 1]), float(loss.step[place])),
                metric=LOSS,
                evidence={"loss": float(value[place]), "next": float(value[place + 1])},
                severity=Severity.ERROR if low >= params.far * usual else None,
            )
    return None


def grown(view: RunView, lo: float, hi: float, params: Params) -> bool:
    """Whether clip fraction or KL between steps `lo` and `hi` is far above all of its recent past."""
    for name in SIZES:
        points = view.get(name)
        if points is None:
            continue
        past: Floats = points.value[points.step < lo][-22:-2]
        now: Floats = points.value[(points.step >= lo) & (points.step <= hi)]
        if past.size >= params.rows and now.size and float(now.max()) >= params.grown * float(past.max()):
            return True
    return False
