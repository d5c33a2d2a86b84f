"""The rule `critic-frozen`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import first_run, median
from firstbreak.view import Points, RunView
from firstbreak.vocabulary import traits_of

SEEN = ("critic/loss", "critic/explained_variance")
"""What shows that there is a critic at all, for the check of the configuration."""

NORMS = ("optim/critic_grad_norm", "critic/grad_norm", "critic/weight_delta")


@dataclass(frozen=True)
class Params:
    """Thresholds of `critic-frozen`; engineering defaults where no source is named."""

    points: int = 3
    """Consecutive logged points of exactly 0. A float gradient of a live network is never exactly 0 three times."""
    rounding: float = 1e-7
    """Share of the largest norm so far that counts as 0, too: a loss times so little is lost to float32 ..."""
    alive: float = 1e-3
    """... where the loss still has this share of its median: in a task that is solved both vanish."""


SAC, PPO = synth.like("SAC"), synth.like("PPO")

CASES = (
    fires("gradient exactly 0 while the loss is not", lambda: SAC({"optim/critic_grad_norm": synth.constant(0.0)})),
    fires(
        "weights stop moving",
        lambda: PPO({"critic/weight_delta": synth.after(0.5, synth.constant(0.0), synth.flat(0.01))}),
    ),
    fires("value loss switched off", lambda: synth.like("PPO", config={"vf_coef": 0.0})({})),
    fires(
        "the loss of the critic counts next to nothing from the middle on",
        lambda: SAC({NORMS[0]: synth.jump(0.1, 3e-13), "critic/loss": synth.flat(0.04, 0.3)}),
    ),
    near_miss(
        "solved: the loss vanishes, and the gradient with it",
        lambda: SAC({NORMS[0]: synth.geometric(1.0, 1e-9), "critic/loss": synth.geometric(1.0, 1e-18)}),
    ),
    healthy("gradients flow", lambda: SAC({})),
    near_miss(
        "0 before learning starts",
        lambda: SAC(
            {
                "optim/critic_grad_norm": synth.after(0.2, synth.flat(5), synth.constant(0.0)),
                "critic/loss": synth.after(0.2, synth.flat(1), synth.constant(0.0)),
            }
        ),
    ),
    near_miss(
        "learning rate scheduled to 0",
        lambda: PPO(
            {
                "critic/weight_delta": synth.after(0.9, synth.constant(0.0), synth.flat(0.01)),
                "critic/lr": synth.after(0.9, synth.constant(0.0), synth.constant(1e-3)),
            }
        ),
    ),
)


def resting(view: RunView, norm: Points) -> bool:
    """Whether the critic is at rest for a reason: its learning rate is 0, so its weights cannot move."""
    lr = view.get("critic/lr", "optim/critic_lr", "optim/lr")
    return norm.metric == "critic/weight_delta" and lr is not None and lr.last == 0


@rule(
    "CRT010",
    "critic-frozen",
    link=Link.CRITIC,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    any_of=((*NORMS, *SEEN),),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("critic-not-learning", "explained-variance-negative", "value-scale-mismatch"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The critic does not train: its gradient or weight change is exactly 0, or a rounding of what it was.

    What it means:
        A live network's gradient is never exactly 0 again and again; the critic's graph or optimiser is cut off.

    Why it matters:
        Values never follow the policy; advantages carry the full noise of the returns, Q stays what it was.

    Usual causes:
        Targets and predictions both detached; value loss coefficient 0; parameters missing from the optimiser; every
        unit dead; updates of the critic skipped.

    What to try:
        Print the critic's gradient norm by layer after one backward pass, and its weights before and after the step.

    When it is harmless:
        With a critic trained by an optimiser of its own, vf_coef 0 means nothing (hence a warning only). Before
        learning starts (loss 0 too), and for the weights when the learning rate has reached 0.

    References:
        Henderson et al. 2018, arXiv 1709.06560. Sokar et al. 2023, arXiv 2302.12902 (dead units).
    """
    seen = view.get(*NORMS, *SEEN)
    assert seen is not None
    if view.number("vf_coef") == 0 and "value_function" in traits_of(view.algorithm):
        return Detection(
            message="vf_coef is 0: no gradient ever reaches the value function",
            onset=view.onset(seen.source.step[0]),
            metric=seen.metric,
            evidence={"coefficient": 0.0},
            severity=Severity.WARNING,
        )
    loss = view.get("critic/loss")
    for metric in NORMS:
        norm = view.get(metric)
        if norm is None or len(norm) < params.points:
            continue
        value = _felt(norm, loss, params)
        if value[-params.points :].any() or resting(view, norm):
            continue
        moving = np.flatnonzero(value)
        start = int(moving[-1]) + 1 if moving.size else 0
        since = norm.step[start]
        alive = loss is not None and bool(loss.value[loss.step >= since].any())
        if loss is not None and not alive:
            continue
        first = first_run(value == 0, params.points)
        exactly = "a rounding of what it was" if norm.value[start:].any() else "exactly 0"
        count = int(norm.value.size - start)
        return Detection(
            message=f"the critic's {metric.rsplit('/', 1)[1]} is {exactly} at the last {count} points",
            onset=view.onset(norm.step[max(start - 1, 0)], since),
            metric=metric,
            evidence={"points": count, "first_zero_row": -1 if first is None else first},
            severity=None if alive or start > 0 else Severity.WARNING,
        )
    if not any(view.has(metric) for metric in NORMS):
        return Skip("gradient norm of the critic not logged", NORMS)
    return None


def _felt(norm: Points, loss: Points | None, params: Params) -> Floats:
    """The norm [n], with 0 where it is a rounding of the largest before and the loss is not."""
    value = norm.value
    if norm.metric == "critic/weight_delta" or loss is None or not len(loss):
        return value
    if loss.value[-params.points :].min() < params.alive * median(loss.value):
        return value
    return np.where(value <= params.rounding * np.maximum.accumulate(value), 0.0, value)
