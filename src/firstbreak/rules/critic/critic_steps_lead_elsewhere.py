"""The rule `critic-steps-lead-elsewhere`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

CRITIC, POLICY = "critic/step_off_frac", "policy/step_off_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `critic-steps-lead-elsewhere`: engineering defaults, those of `steps-lead-elsewhere`."""

    frac: float = 0.1
    """Distance of the critic's weights from where a step leads, over the length of the step; 0 by construction."""
    large: float = 10.0
    """The same that makes it an error: what ten steps learned is gone at once. Engineering default."""
    calm: int = 2
    """Rows before it in which each step led where it should; without them it belongs to the algorithm (weights that are
    clipped, made unit vectors or averaged after each step). Engineering default."""


SAC = synth.like("SAC")
ONCE, NEVER = synth.spikes(0.0, 300.0, at=(0.6,)), synth.constant(0.0)

CASES = (
    fires("the critics' weights are cut off now and then", lambda: SAC({CRITIC: ONCE, POLICY: NEVER})),
    fires("a pull at each step", lambda: SAC({CRITIC: synth.jump(0.0, 0.3, at=0.8, noise=0), POLICY: NEVER})),
    healthy("each step leads where it should", lambda: SAC({CRITIC: NEVER, POLICY: NEVER})),
    near_miss("the policy's steps, too: another rule says so", lambda: SAC({CRITIC: ONCE, POLICY: ONCE})),
    near_miss("a critic that is clipped after each step from the start", lambda: SAC({CRITIC: synth.flat(3.0, 0.3)})),
)


@rule(
    "CRT064",
    "critic-steps-lead-elsewhere",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    needs=(CRITIC,),
    min_points=1,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "critic-changed-outside",
        "critic-leaves-target",
        "critic-ignores-state",
        "critic-loss-leaps",
        "critic-moves-at-once",
        "critic-leaves-past",
        "critic-frozen",
        "target-network-replaced",
        "values-jump",
        "q-divergence",
        "return-collapse",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The critic's weights are not where its optimiser's rule leads, and the policy's are: something wrote into it.

    What it means:
        A step follows from the weights before it, the state that it left and its settings. When the critic's next step
        began, its weights were elsewhere; or the step was given another gradient than the loss left, shrunk at most. So
        far each step had led where it should.

    Why it matters:
        Values are those of a network that nobody trained; targets and the policy follow them.

    Usual causes:
        Weights cut off, pruned, averaged or pulled back after the critic's step; a target network's weights that are
        copied in the wrong direction; a hook on the optimiser; one on gradients that adds noise or turns a sign; two
        optimisers that hold the same weights.

    What to try:
        Compare a few weights right after the critic's `step()` with those right before its next one.

    When it is harmless:
        Resets, pruning or averaging that a recipe begins on the way on purpose; an embedding with `max_norm`; an
        optimiser that the monitor is not told of and that trains the same weights.

    References:
        Kingma and Ba 2015, arXiv 1412.6980, algorithm 1. Lillicrap et al. 2016, arXiv 1509.02971 (targets follow).
    """
    steps, own = view.get(CRITIC), view.get(POLICY)
    assert steps is not None
    beyond = steps.value > params.frac
    if own is not None and (own.value > params.frac).any():
        return None
    if beyond[: params.calm].any():
        return None
    onset = persistent_onset(steps.step, beyond, 1)
    if onset is None:
        return None
    size = float(steps.value[beyond].max())
    return Detection(
        message=f"the critic's weights are {size:.3g} step lengths away from where its step leads",
        onset=view.onset(*onset),
        metric=steps.metric,
        evidence={"step_off_frac": size, "times": int(beyond.sum())},
        severity=Severity.ERROR if size >= params.large else None,
    )
