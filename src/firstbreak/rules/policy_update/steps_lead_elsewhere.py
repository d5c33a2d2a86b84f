"""The rule `steps-lead-elsewhere`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

STEPS = "policy/step_off_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `steps-lead-elsewhere`; engineering defaults where no source is named."""

    frac: float = 0.1
    """Distance of the weights from where a step leads, over the length of the step, that counts. By construction it is
    0: what arithmetic in another order leaves is taken off where it is measured."""
    large: float = 10.0
    """The same that makes it an error: what ten steps learned is gone at once. Engineering default."""
    calm: int = 2
    """Rows before it in which each step led where it should; without them it belongs to the algorithm (weights that are
    clipped, made unit vectors or averaged after each step). Engineering default."""


PPO = synth.like("PPO")

CASES = (
    fires(
        "weights go back to the first ones now and then", lambda: PPO({STEPS: synth.spikes(0.0, 300, at=(0.6, 0.7))})
    ),
    fires("a pull at each step from half-way on", lambda: PPO({STEPS: synth.jump(0.0, 0.3, at=0.8, noise=0)})),
    healthy("each step leads where it should", lambda: PPO({STEPS: synth.constant(0.0)})),
    near_miss("rounding of half-precision weights", lambda: PPO({STEPS: synth.flat(0.02, 0.002)})),
    near_miss("weights that are clipped after each step from the start", lambda: PPO({STEPS: synth.flat(3.0, 0.3)})),
)


@rule(
    "POL144",
    "steps-lead-elsewhere",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(STEPS,),
    min_points=1,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "weights-changed-outside",
        "weights-shrink",
        "kl-overshoot",
        "return-collapse",
        "explained-variance-collapse",
        "value-scale-mismatch",
        "target-network-replaced",
        "policy-jumps",
        "reward-moves-at-once",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The weights are not where the optimiser's own rule leads from those before its step: something else wrote there.

    What it means:
        A step follows from the weights before it, the state that it left (moments, gradient) and its settings. When the
        next step began, the weights were elsewhere; or the step was given another gradient than the loss left, shrunk
        at most. So far each step had led where it should.

    Why it matters:
        What gradients teach is undone or bent after each step, however good they are; moments belong to other weights.

    Usual causes:
        Weights cut off, pruned, averaged or pulled back after `optimizer.step()`; a checkpoint that is loaded again and
        again; a hook on the optimiser; one on gradients that adds noise, turns a sign or puts in those of another
        batch; two optimisers that hold the same weights; memory that two processes share.

    What to try:
        Compare a few weights right after `optimizer.step()` with those right before the next one, and the step itself
        with the formula; list the hooks of the optimiser.

    When it is harmless:
        Resets, pruning or averaging that a recipe begins on the way on purpose; an embedding with `max_norm`; an
        optimiser that the monitor is not told of and that trains the same weights.

    References:
        Kingma and Ba 2015, arXiv 1412.6980, algorithm 1. PyTorch: `Optimizer.register_step_post_hook`.
    """
    steps = view.get(STEPS)
    assert steps is not None
    beyond = steps.value > params.frac
    if beyond[: params.calm].any():
        return None
    onset = persistent_onset(steps.step, beyond, 1)
    if onset is None:
        return None
    size = float(steps.value[beyond].max())
    return Detection(
        message=f"weights are {size:.3g} step lengths away from where a step of the optimiser leads",
        onset=view.onset(*onset),
        metric=steps.metric,
        evidence={"step_off_frac": size, "times": int(beyond.sum())},
        severity=Severity.ERROR if size >= params.large else None,
    )
