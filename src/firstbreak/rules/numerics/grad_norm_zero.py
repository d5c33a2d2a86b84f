"""The rule `grad-norm-zero`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView
from firstbreak.vocabulary import traits_of


@dataclass(frozen=True)
class Params:
    """Thresholds of `grad-norm-zero`: engineering defaults, except where a source is named."""

    points: int = 10
    """Consecutive newest points at zero."""
    tiny_frac: float = 1e-8
    """Gradient norm over its largest that counts as zero."""
    silent: float = 0.95
    """Share of silent groups that explains a zero gradient (see `zero-std-groups`)."""


PPO = synth.like("PPO")
GRPO = synth.like("GRPO")

NORMS = ("optim/grad_norm", "optim/actor_grad_norm")
SHORT = 8
"""A log with fewer rows than this can only be judged as a whole, once it has ended."""

CASES = (
    fires(
        "gradient dies", lambda: PPO({"optim/grad_norm": synth.after(0.5, synth.constant(0.0), synth.flat(0.6, 0.1))})
    ),
    fires("zero from the start", lambda: PPO({"optim/grad_norm": synth.constant(0.0)})),
    healthy("alive", lambda: PPO({})),
    near_miss(
        "zero because every group is silent",
        lambda: GRPO({"optim/grad_norm": synth.constant(0.0), "group/zero_std_fraction": synth.constant(1.0)}),
    ),
    near_miss(
        "zero because the learning rate is",
        lambda: PPO({"optim/grad_norm": synth.constant(0.0), "optim/lr": synth.constant(0.0)}),
    ),
)


@rule(
    "NUM003",
    "grad-norm-zero",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    any_of=(("optim/grad_norm", "optim/actor_grad_norm"),),
    params=Params(),
    cases=CASES,
    implies=("policy-frozen", "reward-flat", "metrics-frozen"),
)
def detect(view: RunView, params: Params) -> Answer:
    """No gradient reaches the policy.

    What it means:
        The gradient norm is exactly 0 for many updates, and neither silent groups nor the learning rate explain it.

    Why it matters:
        The run goes on and costs time, and learns nothing.

    Usual causes:
        A graph cut by detach or no_grad; parameters missing from the optimiser; everything masked; dead units.

    What to try:
        Overfit one fixed batch: the loss must fall. Then look at which parameters have a gradient.

    When it is harmless:
        While the actor waits for the critic (warm-up), and in group methods when all groups are silent.

    References:
        Sutton & Barto 2018, section 13.
    """
    norms = view.get(*NORMS)
    assert norms is not None
    whole = len(norms.source) < SHORT and view.log.state != "running"
    count = len(norms) if whole else params.points
    if not len(norms) or len(norms) < count:
        return None
    zero = norms.value <= params.tiny_frac * norms.max
    if not bool(zero[-count:].all()):
        return None
    silent, rate = view.get("group/zero_std_fraction"), view.get("optim/lr")
    if silent is not None and len(silent) and median(silent.value[-count:]) >= params.silent:
        return None
    if rate is not None and len(rate) and rate.last == 0:
        return None
    spread = view.get("group/reward_std_mean", "reward/train_std")
    if spread is not None and len(spread) and float(spread.value[-count:].max()) == 0:
        return None
    if silent is None and norms.max > 0 and "groups" in traits_of(view.algorithm):
        # The spread over the batch says nothing of the spread inside the groups.
        return Skip("whether silent groups explain the gradient of 0", ("group/zero_std_fraction",), withholds=True)
    onset = persistent_onset(norms.step, zero, count)
    assert onset is not None
    return Detection(
        message=f"Gradient norm is 0 on the newest {count} of {len(norms)} logged points",
        onset=view.onset(*onset),
        metric=norms.metric,
        evidence={"largest": norms.max, "points": count},
        severity=Severity.ERROR if norms.max > 0 and not whole else None,
    )
