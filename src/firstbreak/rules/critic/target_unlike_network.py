"""The rule `target-unlike-network`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

UNLIKE = "critic/target_unlike_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `target-unlike-network`: engineering defaults."""

    frac: float = 0.01
    """Distance of the answers over their size that counts. By definition it is 0: rounding is taken off where it is
    measured. Engineering default."""
    calm: int = 2
    """Rows before it in which both answered alike; without them it belongs to the algorithm (a target network that is
    given a bound of its own). Engineering default."""


DQN, SAC = synth.like("DQN"), synth.like("SAC")

CASES = (
    fires("the target takes the smallest value for the largest", lambda: DQN({UNLIKE: synth.jump(0, 0.8, at=0.6)})),
    fires("the target is given its inputs in another order", lambda: SAC({UNLIKE: synth.jump(0, 0.4, at=0.9)})),
    healthy("both answer alike", lambda: DQN({UNLIKE: synth.constant(0.0)})),
    near_miss("rounding of half-precision networks", lambda: DQN({UNLIKE: synth.flat(2e-3, 2e-4)})),
    near_miss(
        "targets that have had a bound of their own from the start", lambda: SAC({UNLIKE: synth.flat(0.2, 0.02)})
    ),
)


@rule(
    "CRT065",
    "target-unlike-network",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    needs=(UNLIKE,),
    min_points=1,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "critic-leaves-target",
        "critic-loss-leaps",
        "critic-loss-not-its-targets",
        "critic-moves-at-once",
        "critic-leaves-past",
        "targets-not-td",
        "values-jump",
        "q-divergence",
        "q-over-bound",
        "values-all-alike",
        "return-collapse",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """A target network no longer computes what the network that it follows computes from the same weights.

    What it means:
        Both are asked about the same rows, the network with the target's weights. They are copies of one another, so
        that their answers are the same; so far they were.

    Why it matters:
        Targets are made of the target network's answers: the critic is taught values that no policy has.

    Usual causes:
        A wrapper, a hook or a branch in the forward pass of one of them: a minimum for a maximum, a bound, inputs in
        another order, another mode (dropout, normalisation), an actor that is replaced.

    What to try:
        Copy the weights, ask both about one batch, and compare layer by layer.

    When it is harmless:
        A bound on targets that a recipe begins on the way on purpose.

    References:
        Mnih et al. 2015, doi:10.1038/nature14236 (target networks); Lillicrap et al. 2016, arXiv 1509.02971.
    """
    unlike = view.get(UNLIKE)
    assert unlike is not None
    beyond = unlike.value > params.frac
    if beyond[: params.calm].any():
        return None
    onset = persistent_onset(unlike.step, beyond, 1)
    if onset is None:
        return None
    size = float(unlike.value[beyond].max())
    return Detection(
        message=f"with the same weights, target network and network answer {size:.3g} of their size apart",
        onset=view.onset(*onset),
        metric=unlike.metric,
        evidence={"target_unlike_frac": size, "times": int(beyond.sum())},
    )
